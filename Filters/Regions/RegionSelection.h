// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Regions/RangeRegions.h"

namespace tributary {

/// Which regions of a range are selected; the same on all ranks.
struct RegionSelection {
  bool all = false;
  std::vector<std::int64_t> numbers;  ///< Sorted; of those that are not selected by size.
  std::int64_t leastCells = 1, mostCells = 0;

  bool has(std::int64_t number, std::int64_t cells) const;
};

// All collective.

RegionSelection selectLargest(Transport& transport, const RegionTable& table);
/// Throws Error if a region does not exist.
RegionSelection selectSpecified(const RegionTable& table, const std::vector<std::int64_t>& numbers);
RegionSelection selectBySize(std::int64_t leastCells, std::int64_t mostCells);
RegionSelection selectNearest(Transport& transport, const ComponentDomain& domain,
                              const RangeRegions& regions, const std::array<double, 3>& place);
/// @param ids  see vtkAsyncConnectivity::AddSeed(); throws Error if one exists on no rank
RegionSelection selectAtPoints(Transport& transport, const ComponentDomain& domain,
                               const RangeRegions& regions, const std::vector<std::int64_t>& ids);
RegionSelection selectAtCells(Transport& transport, const ComponentDomain& domain,
                              const RangeRegions& regions, const std::vector<std::int64_t>& ids);

}  // namespace tributary
