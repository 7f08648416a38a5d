// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/Trajectory.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace tributary {
namespace {

/// Chunks double from the smallest size, so that a log allocates little more than the recorded
/// points need, up to one huge page: the first access to fresh memory by small pages would cost as
/// much as computing the points.
constexpr std::size_t LargestChunk = std::size_t(1) << 21;
constexpr std::size_t SmallestChunk = std::size_t(1) << 15;

/// Free chunks of the largest size, kept for the next trace: the first access to fresh memory costs
/// as much as computing the points.
class SpareChunks {
 public:
  ~SpareChunks() {
    for (void* chunk : chunks_) std::free(chunk);
  }
  /// A chunk, or null if there is none.
  void* take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (chunks_.empty()) return nullptr;
    void* chunk = chunks_.back();
    chunks_.pop_back();
    return chunk;
  }
  void give(void* chunk) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (chunks_.size() < Most) {
        chunks_.push_back(chunk);  // reserved: does not throw
        return;
      }
    }
    std::free(chunk);
  }
  static SpareChunks& get() {
    static SpareChunks spare;
    return spare;
  }

 private:
  static constexpr std::size_t Most = 32;  // 64 MiB
  SpareChunks() { chunks_.reserve(Most); }

  std::mutex mutex_;
  std::vector<void*> chunks_;
};

}  // namespace

void TrajectoryLog::Release::operator()(TrajectoryPoint* p) const {
  if (bytes == LargestChunk)
    SpareChunks::get().give(p);
  else
    std::free(p);
}

std::size_t TrajectoryLog::size() const {
  std::size_t points = 0;
  for (std::size_t i = 0; i < chunkCount(); ++i) points += chunk(i).size();
  return points;
}

void TrajectoryLog::grow() {
  const std::size_t doubled = SmallestChunk << std::min<std::size_t>(chunks_.size(), 6);
  const std::size_t bytes = std::min(doubled, LargestChunk);
  void* memory = bytes == LargestChunk ? SpareChunks::get().take() : nullptr;
  if (!memory) {
    memory = std::aligned_alloc(bytes, bytes);
    if (!memory) throw std::bad_alloc();
#ifdef __linux__
    if (bytes == LargestChunk) madvise(memory, bytes, MADV_HUGEPAGE);  // a wish
#endif
  }
  // Uninitialized: each point is written once, by the caller of append().
  auto* points = static_cast<TrajectoryPoint*>(memory);
  const std::size_t capacity = bytes / sizeof(TrajectoryPoint);
  chunks_.push_back(
      {std::unique_ptr<TrajectoryPoint[], Release>(points, Release{bytes}), capacity});
  next_ = points;
  end_ = points + capacity;
}

}  // namespace tributary
