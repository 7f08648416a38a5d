// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "Regions/ComponentDomain.h"
#include "Regions/WrappedRegions.h"

#include "Tributary/Components/DistributedUnion.h"
#include "Tributary/Components/Regions.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// The regions of one range on one rank.
struct RangeRegions {
  /// The sets of each piece of the domain, which must outlive them. May be cleared when the sets
  /// are no longer needed.
  std::vector<std::unique_ptr<LabeledPiece>> labeled;
  NumberedRegions numbered;
  FactScales scales;  ///< The same on all ranks.
  WrappedRegions wrapped;
  ExchangeStatistics statistics;
  bool aborted = false;
};

/// Collective. Labels the cells in range and numbers their regions.
/// @param tests   for each piece
/// @param arrays  for each piece, the arrays for statistics of its regions
/// @param values  the number of arrays of each piece, the same on all ranks
[[nodiscard]] RangeRegions findRegions(Transport& transport, const ComponentDomain& domain,
                                       const std::vector<RangeTest>& tests,
                                       const std::vector<std::vector<MeasuredValues>>& arrays,
                                       std::size_t values, RegionOrder order,
                                       const UnionOptions& options);

/// The result of writeRegions().
struct WrittenRegions {
  /// The regions at points that other pieces have too, which may be those of other pieces only; in
  /// any order, more than once.
  std::vector<std::int64_t> atSharedPoints;
  /// For each region in this rank's share of the table, its number of points.
  std::vector<std::int64_t> points;
};

/// Collective. Writes the selected regions to the arrays of each piece.
/// @param isSelected     for each piece, for each set
/// @param cells, points  for each piece, an array with one value per cell and one per point, or
///                       null
[[nodiscard]] WrittenRegions writeRegions(Transport& transport, const ComponentDomain& domain,
                                          const RangeRegions& regions,
                                          const std::vector<std::vector<char>>& isSelected,
                                          const std::vector<vtkIdType*>& cells,
                                          const std::vector<vtkIdType*>& points);

}  // namespace tributary
