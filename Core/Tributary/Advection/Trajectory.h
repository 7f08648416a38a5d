// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "Tributary/Advection/Particle.h"
#include "Tributary/Advection/StepRules.h"
#include "Tributary/Base/Span.h"

namespace tributary {

/// An accepted position, recorded by the block that evaluated the velocity there.
struct TrajectoryPoint {
  double x[3];         ///< Unwrapped position.
  double time;         ///< Integration time, signed; in an unsteady field the time.
  std::int64_t line;   ///< See Particle::line.
  std::int32_t index;  ///< 0 for the seed, then counting the steps of the line.
  std::int32_t cell;   ///< Cell of the block (local number); -1 in structured blocks.
};

/// A crossing of an event, recorded by the block that evaluated the velocity there.
struct CrossingPoint {
  TrajectoryPoint point;  ///< The index counts the crossings of the line, from 0.
  double image[3];        ///< The position in the periodic box.
  double length;          ///< Of the line up to there.
  std::int32_t event;     ///< Its place in StepRules::events.
  std::int32_t number;    ///< Counts the crossings of this event along the line, from 1.
};

/// The end of a line.
struct LineEnd {
  std::int64_t line;
  std::int32_t points;  ///< Number recorded on all ranks; 0 for a seed outside all cells.
  Reason reason;
  double x[3];  ///< The last accepted position, unwrapped, and its time; or those of the seed.
  double time;
  // In an unsteady field, with Reason::OutOfTime: the block and the cell of the last position, for
  // Seed. Otherwise -1.
  std::int64_t block = -1;
  std::int64_t cell = -1;
  std::int32_t crossings = 0;  ///< Of events, recorded on all ranks.
  std::int32_t event = -1;     ///< That which ended the line; -1 with any other reason.
  double length = 0;           ///< Of the line. In an unsteady field 0.
};

/// The crossings that one thread records in one block, in order. They are stored without what
/// StepRules::crossingContent does not ask for, in chunks, which are freed one by one as crossings
/// are taken: so what is made of them does not need memory beside all of them.
class CrossingLog {
 public:
  /// Appends a crossing.
  /// @param rules  the same for all crossings of a log
  void append(const StepRules& rules, const CrossingPoint& crossing);
  /// The number of crossings.
  std::size_t size() const { return size_; }
  /// Moves the oldest crossings, of one chunk, to the end of a list, and frees their memory.
  /// @return how many; 0 if there are none
  std::size_t takeChunk(std::vector<CrossingPoint>& taken);
  /// Calls visit() with each crossing.
  template <class Visit>
  void forEach(Visit&& visit) const {
    for (std::size_t c = first_; c < chunks_.size(); ++c)
      for (std::size_t i = 0; i < chunks_[c].count; ++i) visit(read(chunks_[c], i));
  }

 private:
  struct Release {
    std::size_t bytes = 0;
    void operator()(std::byte* memory) const;
  };
  struct Chunk {
    std::unique_ptr<std::byte[], Release> records;
    std::size_t capacity, count;
    std::int64_t line;  ///< Records have the difference from it.
  };
  bool fits(std::int64_t line) const;
  void grow(std::int64_t line);
  CrossingPoint read(const Chunk& chunk, std::size_t i) const;

  CrossingContent content_ = CrossingContent::All;
  bool isPeriodic_ = false;  // and positions are therefore not those of images
  std::vector<Chunk> chunks_;
  std::size_t first_ = 0;  // chunks before it are taken
  std::size_t size_ = 0;
};

/// Append-only store of the points and crossings that one thread records in one block. It grows by
/// chunks: memory is proportional to the number of points, and points are not copied.
class TrajectoryLog {
 public:
  TrajectoryLog() = default;
  TrajectoryLog(TrajectoryLog&& other) noexcept { swap(other); }
  TrajectoryLog& operator=(TrajectoryLog&& other) noexcept {
    swap(other);
    return *this;
  }

  /// Appends a point, uninitialized, which the caller fills. Inlined into kernels that are compiled
  /// for one instruction set, therefore without calls of library functions.
  __attribute__((always_inline)) TrajectoryPoint& append() {
    if (next_ == end_) grow();
    return *next_++;
  }

  /// The crossings of events.
  CrossingLog& crossings() { return crossings_; }
  /// @overload
  const CrossingLog& crossings() const { return crossings_; }

  /// The number of points.
  std::size_t size() const;
  /// The number of chunks.
  std::size_t chunkCount() const { return chunks_.size(); }
  /// The points of a chunk.
  Span<const TrajectoryPoint> chunk(std::size_t i) const {
    const Chunk& c = chunks_[i];
    return {c.points.get(),
            i + 1 == chunks_.size() ? c.capacity - std::size_t(end_ - next_) : c.capacity};
  }

 private:
  void grow();
  void swap(TrajectoryLog& other) noexcept {
    chunks_.swap(other.chunks_);
    std::swap(crossings_, other.crossings_);
    std::swap(next_, other.next_);
    std::swap(end_, other.end_);
  }

  struct Release {
    std::size_t bytes = 0;
    void operator()(TrajectoryPoint* p) const;
  };
  struct Chunk {
    std::unique_ptr<TrajectoryPoint[], Release> points;
    std::size_t capacity;
  };
  std::vector<Chunk> chunks_;
  CrossingLog crossings_;
  TrajectoryPoint* next_ = nullptr;
  TrajectoryPoint* end_ = nullptr;
};

}  // namespace tributary
