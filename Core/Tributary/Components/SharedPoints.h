// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Tributary/Collective/Assignment.h"
#include "Tributary/Components/Matching.h"
#include "Tributary/Components/Regions.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// A region that has a cell at a point.
struct RegionAtPoint {
  std::int64_t point;     ///< An entity whose key was given to matchEntities().
  std::int64_t region;    ///< Number of the region.
  std::int64_t selected;  ///< 1 if the region is to be shown, 0 if not.
};

/// The least of the selected regions at a point on any block.
struct PointLabel {
  std::int64_t point;
  std::int64_t region;
};

/// The result of settlePoints().
struct SettledPoints {
  /// For each local block, the points at which a region is shown.
  std::vector<std::vector<PointLabel>> labels;
  /// For regions, the number of their points that blocks of this rank own; may contain a region
  /// more than once.
  std::vector<RegionCount> counts;
};

/// Finds the regions of points that blocks share, so that all blocks show the same region at a
/// point and the point is counted once. Collective. Throws Error on all ranks if a message is
/// malformed.
/// @param matches  of the points: the result of matchEntities()
/// @param regions  for each local block, the regions of its own cells at any of these points, in
///                 any order; no other block has a point without matches
[[nodiscard]] SettledPoints settlePoints(Transport& transport, const Assignment& assignment,
                                         const std::vector<std::vector<Match>>& matches,
                                         const std::vector<std::vector<RegionAtPoint>>& regions);

}  // namespace tributary
