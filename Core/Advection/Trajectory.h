#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "Tributary/Advection/Particle.h"
#include "Tributary/Span.h"

namespace tributary {

/// An accepted position, as the block that evaluated the velocity there saw it.
struct TrajectoryPoint {
  double x[3];          ///< Unwrapped position.
  double time;          ///< Integration time, signed.
  std::int64_t line;    ///< See Particle::line.
  std::int32_t index;   ///< 0 for the seed, then counting the steps of the line.
  std::int32_t cell;    ///< Cell of the block (local number); -1 in structured blocks.
};

/// What is known of a line when it ends.
struct LineEnd {
  std::int64_t line;
  std::int32_t points;  ///< How many points were recorded on all ranks; 0 for a seed in no cell.
  Reason reason;
};

/// Append-only store of the points recorded in one block by one thread. Grows by chunks, so that
/// memory follows what is recorded and nothing is ever copied.
class TrajectoryLog {
 public:
  static constexpr std::size_t kChunk = std::size_t(1) << 15;

  /// Room for the next point; the caller fills it at once.
  TrajectoryPoint& append() {
    if (used_ == kChunk) grow();
    return chunks_.back()[used_++];
  }

  std::size_t size() const { return chunks_.empty() ? 0 : (chunks_.size() - 1) * kChunk + used_; }
  std::size_t chunkCount() const { return chunks_.size(); }
  Span<const TrajectoryPoint> chunk(std::size_t i) const {
    return {chunks_[i].get(), i + 1 == chunks_.size() ? used_ : kChunk};
  }

 private:
  void grow();

  struct Release {
    void operator()(TrajectoryPoint* p) const;
  };
  std::vector<std::unique_ptr<TrajectoryPoint[], Release>> chunks_;
  std::size_t used_ = kChunk;
};

}  // namespace tributary
