// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/Trajectory.h"

#include <algorithm>
#include <cstdlib>

#include "Tributary/Base/HugePages.h"
#include "Tributary/Base/LargeBuffers.h"

namespace tributary {
namespace {

/// Chunks double from the smallest size, so that a log allocates little more than the recorded
/// points need, up to one huge page: the first access to fresh memory by small pages would cost as
/// much as computing the points.
constexpr std::size_t LargestChunk = std::size_t(1) << 21;
constexpr std::size_t SmallestChunk = std::size_t(1) << 15;

}  // namespace

void TrajectoryLog::Release::operator()(TrajectoryPoint* p) const {
  if (bytes >= LargeBufferBytes)
    giveBackLargeBuffer(p, bytes);
  else
    std::free(p);
}

void TrajectoryLog::appendCrossing(const CrossingPoint& crossing) {
  crossings_.push_back(crossing);
}

std::size_t TrajectoryLog::size() const {
  std::size_t points = 0;
  for (std::size_t i = 0; i < chunkCount(); ++i) points += chunk(i).size();
  return points;
}

void TrajectoryLog::grow() {
  const std::size_t doubled = SmallestChunk << std::min<std::size_t>(chunks_.size(), 6);
  const std::size_t bytes = std::min(doubled, LargestChunk);
  void* memory = bytes >= LargeBufferBytes ? largeBuffer(bytes) : allocatePages(bytes);
  // Uninitialized: each point is written once, by the caller of append().
  auto* points = static_cast<TrajectoryPoint*>(memory);
  const std::size_t capacity = bytes / sizeof(TrajectoryPoint);
  chunks_.push_back(
      {std::unique_ptr<TrajectoryPoint[], Release>(points, Release{bytes}), capacity});
  next_ = points;
  end_ = points + capacity;
}

}  // namespace tributary
