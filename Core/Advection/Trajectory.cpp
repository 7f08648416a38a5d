#include "Tributary/Advection/Trajectory.h"

#include <cstdlib>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace tributary {
namespace {

/// One huge page, where the system has them: touching fresh memory by small pages would cost as
/// much as computing what is written there.
constexpr std::size_t kLargeChunk = std::size_t(1) << 21;
/// The first chunk of a log: many blocks record little.
constexpr std::size_t kSmallChunk = std::size_t(1) << 15;

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
  const std::size_t bytes = chunks_.empty() ? kSmallChunk : kLargeChunk;
  // Uninitialised: the points are written once, by whoever appends them.
  auto* points = static_cast<TrajectoryPoint*>(std::aligned_alloc(bytes, bytes));
  if (!points) throw std::bad_alloc();
#ifdef __linux__
  if (bytes == kLargeChunk) madvise(points, bytes, MADV_HUGEPAGE);  // a wish: failure is no harm
#endif
  const std::size_t capacity = bytes / sizeof(TrajectoryPoint);
  chunks_.push_back({std::unique_ptr<TrajectoryPoint[], Release>(points), capacity});
  next_ = points;
  end_ = points + capacity;
}

}  // namespace tributary
