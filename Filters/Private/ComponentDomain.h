#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ComponentPiece.h"

#include "Tributary/Assignment.h"
#include "Tributary/Components/DistributedUnion.h"
#include "Tributary/Components/SharedPoints.h"
#include "Tributary/Transport/Transport.h"

class vtkDataArray;

namespace tributary {

/// The data sets of all ranks as one domain of connected cells. Views the data sets, which must
/// outlive it.
struct ComponentDomain {
  DomainRules rules;
  Assignment assignment{std::vector<std::int64_t>{0}};  ///< Blocks are data sets.
  std::vector<std::unique_ptr<ComponentPiece>> pieces;  ///< Of this rank.
  std::vector<std::vector<Match>> points;               ///< Points that data sets share.
  /// What else connects cells of different data sets; empty if points do.
  std::vector<std::vector<Match>> connections;
  bool throughPoints = true;
  bool aborted = false;  ///< And of no use.
};

/// Collective. Finds out what the data sets share, for any range.
/// @param leaves  of this rank
/// @param labels  null for each leaf, or its array of labels per cell
/// @param tolerance  points of two cells that are not further apart than this share of the smaller
///                   cell's diagonal are one; 0: only those with the same coordinates
/// @param options  of the union that joins those
std::unique_ptr<ComponentDomain> makeComponentDomain(Transport& transport,
                                                     const std::vector<Leaf>& leaves,
                                                     const std::vector<vtkDataArray*>& labels,
                                                     bool withLabels, Through through,
                                                     double tolerance, const UnionOptions& options);

/// The regions of one range, on one rank.
struct RangeRegions {
  NumberedRegions numbered;
  FactScales scales;  ///< The same on all ranks.
  ExchangeStatistics statistics;
  bool aborted = false;
};

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
