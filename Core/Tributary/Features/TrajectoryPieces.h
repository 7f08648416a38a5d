// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "Tributary/Base/Span.h"
#include "Tributary/Features/CriticalKind.h"

namespace tributary {

/// A simplex of space-time with the dimension of space, named by its points; the same on all ranks.
struct SpaceTimeFace {
  std::int64_t step = 0;   ///< The earlier step of its points.
  std::int64_t upper = 0;  ///< Number of its points in the next step.
  std::array<std::int64_t, 4>
      ids{};  ///< Of its points: those in `step`, then those in the next one.

  bool operator==(const SpaceTimeFace& other) const {
    return step == other.step && upper == other.upper && ids == other.ids;
  }
  bool operator!=(const SpaceTimeFace& other) const { return !(*this == other); }
  bool operator<(const SpaceTimeFace& other) const {
    if (step != other.step) return step < other.step;
    return upper != other.upper ? upper < other.upper : ids < other.ids;
  }
};

/// A point of space-time where the field is zero, and the stretch of its trajectory to the next
/// point (of the last point: from the one before).
struct CriticalPoint {
  SpaceTimeFace face;
  double time = 0;
  std::array<double, 3> place{};
  double value = 0;                  ///< The interpolated scalar; 0 for a vector field.
  std::array<double, 3> velocity{};  ///< Of the stretch; not finite at constant time.
  CriticalKind kind;                 ///< Of the stretch.
};

/// Whether a trajectory, or a piece of one, ends at its first point.
[[nodiscard]] inline bool isClosed(Span<const CriticalPoint> points) {
  return points.size() > 1 && points[0].face == points[points.size() - 1].face;
}

/// Pieces of trajectories: each lies in one block and between two consecutive steps.
struct TrajectoryPieces {
  std::vector<CriticalPoint> points;    ///< Piece by piece, in order along the trajectory.
  std::vector<std::size_t> offsets{0};  ///< The first point of each piece, and the end of the last.
  std::vector<std::int64_t> tracks;     ///< Of each piece.

  /// The number of pieces.
  std::size_t size() const { return offsets.size() - 1; }
  /// The points of a piece.
  Span<const CriticalPoint> piece(std::size_t i) const {
    return {points.data() + offsets[i], offsets[i + 1] - offsets[i]};
  }
  /// Appends the pieces of another step.
  void append(const TrajectoryPieces& later) {
    for (std::size_t i = 1; i < later.offsets.size(); ++i)
      offsets.push_back(points.size() + later.offsets[i]);
    points.insert(points.end(), later.points.begin(), later.points.end());
    tracks.insert(tracks.end(), later.tracks.begin(), later.tracks.end());
  }
};

/// Reverses the order of points. The velocity and kind of stretches stay with their stretches.
inline void reverse(std::vector<CriticalPoint>& points) {
  std::reverse(points.begin(), points.end());
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    points[i].velocity = points[i + 1].velocity;
    points[i].kind = points[i + 1].kind;
  }
}

/// Sorts the points of a line into an order that does not depend on how they were found. An open
/// line begins at the lower of its ends. A closed line, whose last point is its first, begins at
/// its lowest point and continues to the lower of that point's neighbors.
inline void putInOrder(std::vector<CriticalPoint>& points) {
  if (points.size() < 2) return;
  if (points.front().face != points.back().face) {
    if (points.back().face < points.front().face) reverse(points);
    return;
  }
  points.pop_back();
  std::rotate(points.begin(),
              std::min_element(
                  points.begin(), points.end(),
                  [](const CriticalPoint& a, const CriticalPoint& b) { return a.face < b.face; }),
              points.end());
  const bool isReverse = points.back().face < points[1].face;
  CriticalPoint last = points.front();
  last.velocity = points.back().velocity;
  last.kind = points.back().kind;
  points.push_back(last);
  if (isReverse) reverse(points);
}

}  // namespace tributary
