// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "Regions/ComponentDomain.h"
#include "Regions/ComponentPiece.h"

#include "Tributary/Components/DistributedUnion.h"
#include "Tributary/Components/Regions.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// The regions of one range, on one rank.
struct RangeRegions {
  NumberedRegions numbered;
  FactScales scales;  ///< The same on all ranks.
  ExchangeStatistics statistics;
  bool aborted = false;
};

/// Length, area or volume of a region; 0 if no cell of the domain has one.
double measureOf(const RegionFacts& facts, const FactScales& scales);
/// What integrals are divided by: the measure, or the number of cells.
double weightOf(const RegionFacts& facts, const FactScales& scales);
/// Where a region balances; the middle of its bounds if it weighs nothing.
std::array<double, 3> centroidOf(const RegionFacts& facts, const FactScales& scales);

/// Collective. Labels the cells in range and numbers their regions.
/// @param tests   for each piece
/// @param arrays  for each piece so many values
RangeRegions findRegions(Transport& transport, ComponentDomain& domain,
                         const std::vector<RangeTest>& tests,
                         const std::vector<std::vector<MeasuredValues>>& arrays, std::size_t values,
                         RegionOrder order, const UnionOptions& options);

/// Collective. Writes what is shown of the regions to the arrays of each piece and completes the
/// table's numbers of points.
/// @param isSelected  for each piece, for each set
/// @param cells, points  for each piece room for a number per cell and per point, or null
void writeRegions(Transport& transport, const ComponentDomain& domain, RangeRegions& regions,
                  const std::vector<std::vector<char>>& isSelected,
                  const std::vector<vtkIdType*>& cells, const std::vector<vtkIdType*>& points);

}  // namespace tributary
