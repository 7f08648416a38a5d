// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "Regions/ComponentDomain.h"
#include "Regions/RangeRegions.h"

namespace tributary {

/// A selection of the regions of a range, the same on all ranks.
struct RegionSelection {
  bool all = false;
  std::vector<std::int64_t> numbers;  ///< Ascending; not used if selected by size.
  std::int64_t leastCells = 1, mostCells = 0;

  /// Whether a region is selected.
  /// @param number  of the region, or -1
  /// @param cells  number of cells of the region
  bool has(std::int64_t number, std::int64_t cells) const;
};

// All functions are collective.

/// Selects the region with the most cells. Ties go to the region with the least key.
[[nodiscard]] RegionSelection selectLargest(Transport& transport, const RegionTable& table);
/// Selects regions by number.
/// @throws Error on all ranks if a region does not exist
[[nodiscard]] RegionSelection selectSpecified(const RegionTable& table,
                                              const std::vector<std::int64_t>& numbers);
/// Selects the regions with a number of cells in [leastCells, mostCells].
[[nodiscard]] RegionSelection selectBySize(std::int64_t leastCells, std::int64_t mostCells);
/// Selects the region with the point nearest to a position. Ties go to the least number.
[[nodiscard]] RegionSelection selectNearest(Transport& transport, const RangeRegions& regions,
                                            const std::array<double, 3>& place);
/// Selects the regions of cells that use one of the points.
/// @param ids  see vtkAsyncConnectivity::AddSeed()
/// @throws Error on all ranks if an id exists on no rank
[[nodiscard]] RegionSelection selectAtPoints(Transport& transport, const ComponentDomain& domain,
                                             const RangeRegions& regions,
                                             const std::vector<std::int64_t>& ids);
/// Selects the regions of the given cells.
/// @param ids  as in selectAtPoints()
[[nodiscard]] RegionSelection selectAtCells(Transport& transport, const ComponentDomain& domain,
                                            const RangeRegions& regions,
                                            const std::vector<std::int64_t>& ids);

}  // namespace tributary
