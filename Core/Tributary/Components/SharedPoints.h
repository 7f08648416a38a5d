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
  std::int64_t point;     ///< An entity that matchEntities() was given the key of.
  std::int64_t region;    ///< Number of the region.
  std::int64_t selected;  ///< 1 if the region is to be shown, 0 if not.
};

/// The least of the selected regions at a point on any block.
struct PointLabel {
  std::int64_t point;
  std::int64_t region;
};

struct SettledPoints {
  std::vector<std::vector<PointLabel>> labels;  ///< For each local block; none where none is shown.
  std::vector<RegionCount> counts;  ///< Of the points that blocks of this rank own: how many a
                                    ///< region has; a region may come more than once.
};

/// Blocks that share a point find out together which regions it belongs to, so that all show the
/// same one and it is counted once. Collective.
/// @param matches  of the points, as matchEntities() gave them
/// @param regions  for each local block, of any of these points, in any order: those of the block's
///                 own cells; a point without matches is the block's alone
SettledPoints settlePoints(Transport& transport, const Assignment& assignment,
                           const std::vector<std::vector<Match>>& matches,
                           const std::vector<std::vector<RegionAtPoint>>& regions);

}  // namespace tributary
