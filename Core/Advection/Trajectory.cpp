#include "Tributary/Advection/Trajectory.h"

#include <new>

namespace tributary {

void TrajectoryLog::Release::operator()(TrajectoryPoint* p) const {
  ::operator delete(p);
}

void TrajectoryLog::grow() {
  // Uninitialised: the points are written once, by whoever appends them.
  auto* chunk = static_cast<TrajectoryPoint*>(::operator new(kChunk * sizeof(TrajectoryPoint)));
  chunks_.emplace_back(chunk);
  next_ = chunk;
  end_ = chunk + kChunk;
}

}  // namespace tributary
