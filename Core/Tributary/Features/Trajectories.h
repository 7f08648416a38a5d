// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "Tributary/Base/Span.h"
#include "Tributary/Collective/Assignment.h"
#include "Tributary/Features/CriticalPoints.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// An event at a point of a trajectory.
enum class TrajectoryEvent : std::uint8_t {
  None,
  KindChange,  ///< The kind changes at this point.
  Birth,       ///< Two critical points appear and separate: both neighbors are later.
  Death        ///< Two critical points meet and vanish: both neighbors are earlier.
};

/// A point of a trajectory.
struct TrackedCriticalPoint {
  SpaceTimeFace face;
  double time;
  std::array<double, 3> place;
  double value;
  std::array<double, 3> velocity;  ///< Not a number at a birth or death, where it is infinite.
  CriticalKind kind;               ///< From this point to the next one.
  TrajectoryEvent event;
};

/// Trajectories in the order of their tracks. Each is on one rank: of n trajectories, rank r of p
/// has those in [n r / p, n (r + 1) / p), rounded down.
struct Trajectories {
  std::int64_t total = 0;  ///< Number on all ranks.
  std::int64_t first = 0;  ///< Number of this rank's first trajectory.
  std::vector<TrackedCriticalPoint> points;
  std::vector<std::size_t> offsets{0};  ///< The first point of each, and the end of the last.
  std::vector<std::int64_t> tracks;     ///< Of each trajectory the lowest of its pieces.
  bool aborted = false;                 ///< By a monitor, on all ranks; the rest is not valid then.

  /// The number of this rank's trajectories.
  std::size_t size() const { return offsets.size() - 1; }
  /// The points of a trajectory in order, from its lower end. The last point of a closed trajectory
  /// repeats its first.
  Span<const TrackedCriticalPoint> trajectory(std::size_t i) const {
    return {points.data() + offsets[i], offsets[i + 1] - offsets[i]};
  }
};

/// Joins pieces to trajectories, the connected components of pieces with common ends. The result
/// does not depend on ranks, blocks and the timing of messages. Collective. Throws Error on all
/// ranks if an argument is invalid on one or a message is malformed.
/// @param pieces   for each local block the pieces of a range of steps; missing pieces cut
///                 trajectories
/// @param options  of the distributed union-find
[[nodiscard]] Trajectories joinPieces(Transport& transport, const Assignment& assignment,
                                      const std::vector<TrajectoryPieces>& pieces,
                                      const UnionOptions& options);

}  // namespace tributary
