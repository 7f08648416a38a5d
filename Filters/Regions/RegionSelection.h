// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "Regions/ComponentDomain.h"
#include "Regions/RangeRegions.h"

namespace tributary {

/// Which regions of a range are selected; the same on all ranks.
struct RegionSelection {
  bool all = false;
  std::vector<std::int64_t> numbers;  ///< Ascending; of regions not selected by size.
  std::int64_t leastCells = 1, mostCells = 0;

  /// @param number  of a region, or -1; @param cells  of the region
  bool has(std::int64_t number, std::int64_t cells) const;
};

// All collective.

/// The region of most cells; among several the one with the least key.
[[nodiscard]] RegionSelection selectLargest(Transport& transport, const RegionTable& table);
/// Throws Error on all ranks if a region does not exist.
[[nodiscard]] RegionSelection selectSpecified(const RegionTable& table,
                                              const std::vector<std::int64_t>& numbers);
/// The regions with a number of cells in [leastCells, mostCells].
[[nodiscard]] RegionSelection selectBySize(std::int64_t leastCells, std::int64_t mostCells);
/// The region with the point that is nearest to a place; among several the one of least number.
[[nodiscard]] RegionSelection selectNearest(Transport& transport, const RangeRegions& regions,
                                            const std::array<double, 3>& place);
/// The regions of cells that have one of the points.
/// @param ids  see vtkAsyncConnectivity::AddSeed(); throws Error on all ranks if an id exists on
///             none
[[nodiscard]] RegionSelection selectAtPoints(Transport& transport, const ComponentDomain& domain,
                                             const RangeRegions& regions,
                                             const std::vector<std::int64_t>& ids);
/// The regions of cells. @param ids  as above
[[nodiscard]] RegionSelection selectAtCells(Transport& transport, const ComponentDomain& domain,
                                            const RangeRegions& regions,
                                            const std::vector<std::int64_t>& ids);

}  // namespace tributary
