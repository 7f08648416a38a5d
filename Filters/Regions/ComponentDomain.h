// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "Periodic/PeriodicAxes.h"
#include "Regions/GapPoints.h"
#include "Regions/Pieces/PieceFactory.h"

#include "Tributary/Collective/Assignment.h"
#include "Tributary/Components/DistributedUnion.h"
#include "Tributary/Components/Matching.h"
#include "Tributary/Transport/Transport.h"

class vtkDataArray;

namespace tributary {

/// The data sets of all ranks as one domain of connected cells. Refers to the data sets, which must
/// exist when it is used. Each rank knows the bounds of all data sets and compares its own data
/// sets with them, which is fast for up to thousands of data sets per rank.
struct ComponentDomain {
  explicit ComponentDomain(Assignment blocks) : assignment(std::move(blocks)) {}

  DomainRules rules;
  Assignment assignment;                             ///< Of blocks; each block is a data set.
  Pieces pieces;                                     ///< Of this rank.
  std::vector<std::unique_ptr<SharedPiece>> shared;  ///< Of each piece.
  std::vector<std::vector<Match>> points;            ///< Points that data sets share.
  /// Other entities that connect cells of different data sets; empty if throughPoints.
  std::vector<std::vector<Match>> connections;
  bool throughPoints = true;  ///< Whether shared points alone connect cells.
  GapPoints gapPoints;        ///< If rules.hasGap().

  /// The memory on this rank, in bytes.
  [[nodiscard]] std::size_t memory() const;
};

/// Collective. Finds the entities that data sets share, independent of any range.
/// @param leaves     of this rank
/// @param labels     for each leaf, null or its array of labels per cell
/// @param withLabels whether only cells of equal labels are connected
/// @param tolerance  maximum distance of coinciding points of two cells, as a fraction of the
///                   smaller cell's diagonal; 0: only points with equal coordinates coincide
/// @param periodic   how the data continue along the axes
/// @param options    of the union that joins coinciding points
/// @return null after an abort
/// @throws Error on all ranks if a data set is invalid
[[nodiscard]] std::unique_ptr<ComponentDomain> makeComponentDomain(
    Transport& transport, const std::vector<Leaf>& leaves, const std::vector<vtkDataArray*>& labels,
    bool withLabels, Through through, double tolerance, const PeriodicAxes& periodic,
    const UnionOptions& options);

}  // namespace tributary
