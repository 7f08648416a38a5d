#include "Tributary/Advection/Trajectory.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace tributary {
namespace {

/// Chunks double from the smallest, so that a log holds little more than what was recorded, up to
/// one huge page, where the system has them: touching fresh memory by small pages would cost as
/// much as computing what is written there.
constexpr std::size_t kLargestChunk = std::size_t(1) << 21;
constexpr std::size_t kSmallestChunk = std::size_t(1) << 15;

}  // namespace

void TrajectoryLog::Release::operator()(TrajectoryPoint* p) const {
  std::free(p);
}

std::size_t TrajectoryLog::size() const {
  std::size_t points = 0;
  for (std::size_t i = 0; i < chunkCount(); ++i) points += chunk(i).size();
  return points;
}

void TrajectoryLog::grow() {
  const std::size_t doubled = kSmallestChunk << std::min<std::size_t>(chunks_.size(), 6);
  const std::size_t bytes = std::min(doubled, kLargestChunk);
  // Uninitialised: the points are written once, by whoever appends them.
  auto* points = static_cast<TrajectoryPoint*>(std::aligned_alloc(bytes, bytes));
  if (!points) throw std::bad_alloc();
#ifdef __linux__
  if (bytes == kLargestChunk) madvise(points, bytes, MADV_HUGEPAGE);  // a wish: failure is no harm
#endif
  const std::size_t capacity = bytes / sizeof(TrajectoryPoint);
  chunks_.push_back({std::unique_ptr<TrajectoryPoint[], Release>(points), capacity});
  next_ = points;
  end_ = points + capacity;
}

}  // namespace tributary
