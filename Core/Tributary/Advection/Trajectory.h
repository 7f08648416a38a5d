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
  std::int64_t target;    ///< Of a surface: SurfaceTriangle::label; otherwise -1.
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
  double length = 0;  ///< Up to `x`; in an unsteady field only with events. See LineProgress.
  std::int64_t target = -1;  ///< CrossingPoint::target of the crossing that ended the line.
};

/// What records of crossings have.
struct CrossingFormat {
  CrossingContent content = CrossingContent::All;
  bool isPeriodic = true;  ///< Positions are not those of images.
  bool hasTargets = true;  ///< There are events at surfaces.

  CrossingFormat() = default;
  /// That of a trace.
  explicit CrossingFormat(const StepRules& rules)
      : content(rules.crossingContent),
        isPeriodic(rules.period[0] > 0 || rules.period[1] > 0 || rules.period[2] > 0),
        hasTargets(haveSurface(rules.events)) {}
  bool operator==(const CrossingFormat& other) const {
    return content == other.content && isPeriodic == other.isPeriodic &&
           hasTargets == other.hasTargets;
  }
};

/// The crossings that one thread records in one block, in order. They are stored as their format
/// says, in chunks of lines whose numbers differ by less than 2^31, which are freed one by one as
/// crossings are taken.
class CrossingLog {
 public:
  /// Appends a crossing.
  void append(CrossingFormat format, const CrossingPoint& crossing);
  /// The number of crossings.
  std::size_t size() const;
  /// Moves the oldest crossings, of one chunk, to the end of a list, and frees their memory.
  /// @return how many; 0 if there are none
  std::size_t takeChunk(std::vector<CrossingPoint>& taken);
  /// Calls visit() with each crossing.
  template <class Visit>
  void forEach(Visit&& visit) const {
    for (const Chunk& chunk : chunks_)
      for (std::size_t i = 0; i < chunk.count; ++i) visit(read(chunk, i));
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
    CrossingFormat format;
  };
  bool fits(CrossingFormat format, std::int64_t line) const;
  void grow(CrossingFormat format, std::int64_t line);
  static CrossingPoint read(const Chunk& chunk, std::size_t i);

  std::vector<Chunk> chunks_;
};

/// Append-only store of the points and crossings that one thread records in one block. It grows by
/// chunks: memory is proportional to the number of points, and points are not copied.
class TrajectoryLog {
 public:
  TrajectoryLog() = default;
  /// @param format  of crossings
  explicit TrajectoryLog(CrossingFormat format) : format_(format) {}
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

  /// Appends a crossing of an event.
  void appendCrossing(const CrossingPoint& crossing);
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
    std::swap(format_, other.format_);
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
  CrossingFormat format_;
};

}  // namespace tributary
