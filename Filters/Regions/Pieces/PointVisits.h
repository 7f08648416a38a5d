// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "Regions/Pieces/ComponentPiece.h"

namespace tributary {

// For pieces whose cells have lists of points. All of this is local.

/// Calls `visit(point, set)` once for each point and each region that has a cell there, with one of
/// its sets.
/// @param setOf     set of a cell, or NoSet
/// @param pointsOf  points of a cell, a range of numbers below `points`
/// @param numberOf  region of each set
template <class SetOf, class PointsOf, class Visit>
void visitRegionsAtPoints(std::int64_t points, std::int64_t cells, SetOf&& setOf,
                          PointsOf&& pointsOf, Span<const std::int64_t> numberOf, Visit&& visit) {
  // Most points have one region; the further regions of the others are kept until the end.
  std::vector<std::uint32_t> firstSet(static_cast<std::size_t>(points), NoSet);
  using More = std::tuple<std::int64_t, std::int64_t, std::uint32_t>;  // point, region, set
  std::vector<More> more;
  for (std::int64_t c = 0; c < cells; ++c) {
    const std::uint32_t set = setOf(c);
    if (set == NoSet) continue;
    for (const std::int64_t p : pointsOf(c)) {
      std::uint32_t& known = firstSet[static_cast<std::size_t>(p)];
      if (known == NoSet) {
        known = set;
        visit(p, set);
      } else if (known != set && numberOf[known] != numberOf[set]) {
        more.emplace_back(p, numberOf[set], set);
      }
    }
  }
  std::sort(more.begin(), more.end());
  for (std::size_t i = 0; i < more.size(); ++i) {
    const auto [point, region, set] = more[i];
    if (i == 0 || std::get<0>(more[i - 1]) != point || std::get<1>(more[i - 1]) != region)
      visit(point, set);
  }
}

/// All sets at the shared points, each once.
/// @param sharedIndex  of a point, -1 if it is not shared
template <class SetOf, class PointsOf, class SharedIndex>
std::vector<SetAtPoint> setsAtPoints(std::int64_t cells, SetOf&& setOf, PointsOf&& pointsOf,
                                     SharedIndex&& sharedIndex) {
  std::vector<SetAtPoint> list;
  for (std::int64_t c = 0; c < cells; ++c) {
    const std::uint32_t set = setOf(c);
    if (set == NoSet) continue;
    for (const std::int64_t p : pointsOf(c)) {
      const std::int64_t at = sharedIndex(p);
      if (at >= 0) list.push_back({at, set});
    }
  }
  std::sort(list.begin(), list.end(), [](const SetAtPoint& a, const SetAtPoint& b) {
    return a.shared != b.shared ? a.shared < b.shared : a.set < b.set;
  });
  list.erase(std::unique(list.begin(), list.end(),
                         [](const SetAtPoint& a, const SetAtPoint& b) {
                           return a.shared == b.shared && a.set == b.set;
                         }),
             list.end());
  return list;
}

}  // namespace tributary
