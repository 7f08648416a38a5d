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

/// What happens at a point of a trajectory.
enum class TrajectoryEvent : std::uint8_t {
  None,
  KindChange,  ///< Its kind is another one from here on.
  Birth,       ///< Two critical points appear here, and part: both neighbors are later.
  Death        ///< Two critical points meet here, and vanish: both neighbors are earlier.
};

struct TrackedCriticalPoint {
  SpaceTimeFace face;
  double time;
  std::array<double, 3> place;
  double value;
  std::array<double, 3> velocity;  ///< Not a number at a birth or death: it is infinite there.
  CriticalKind kind;               ///< From here to the next point.
  TrajectoryEvent event;
};

/// Trajectories of all ranks, in the order of their tracks, each on one rank: of n, rank r of p has
/// those from n r / p on.
struct Trajectories {
  std::int64_t total = 0;  ///< On all ranks.
  std::int64_t first = 0;  ///< Which of all this rank's first one is.
  std::vector<TrackedCriticalPoint> points;
  std::vector<std::size_t> offsets{0};  ///< Where they begin, and the end of the last.
  std::vector<std::int64_t> tracks;     ///< Of each one the lowest of its pieces.
  bool aborted = false;                 ///< By a monitor; not meant to be used then.

  std::size_t size() const { return offsets.size() - 1; }
  /// Its points in order, from the end that was found first; the last of a closed one is the first
  /// once more.
  Span<const TrackedCriticalPoint> trajectory(std::size_t i) const {
    return {points.data() + offsets[i], offsets[i + 1] - offsets[i]};
  }
};

/// Joins pieces to trajectories: they are the connected components of what pieces have in common.
/// The result does not depend on ranks, blocks and the timing of messages. Collective. Throws Error
/// on all ranks if arguments are wrong on one or a message is malformed.
/// @param pieces   of each local block those of as many steps in a row as wanted; where pieces are
///                 missing trajectories are cut
/// @param options  of the distributed union-find
Trajectories joinPieces(Transport& transport, const Assignment& assignment,
                        const std::vector<TrajectoryPieces>& pieces, const UnionOptions& options);

}  // namespace tributary
