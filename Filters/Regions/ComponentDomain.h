// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "Regions/Pieces/PieceFactory.h"

#include "Tributary/Collective/Assignment.h"
#include "Tributary/Components/DistributedUnion.h"
#include "Tributary/Components/Matching.h"
#include "Tributary/Transport/Transport.h"

class vtkDataArray;

namespace tributary {

/// The data sets of all ranks as one domain of connected cells. Immutable. Views the data sets,
/// which must outlive it. Every rank knows the bounds of all data sets and compares each of its own
/// with them, which is fast for up to thousands of data sets per rank.
struct ComponentDomain {
  explicit ComponentDomain(Assignment blocks) : assignment(std::move(blocks)) {}

  DomainRules rules;
  Assignment assignment;                             ///< Blocks are data sets.
  Pieces pieces;                                     ///< Of this rank.
  std::vector<std::unique_ptr<SharedPiece>> shared;  ///< Of each piece.
  std::vector<std::vector<Match>> points;            ///< Points that data sets share.
  /// What else connects cells of different data sets; empty if throughPoints.
  std::vector<std::vector<Match>> connections;
  bool throughPoints = true;  ///< Whether shared points alone connect cells.
};

/// Finds what the data sets share, for any range. Collective. Throws Error on all ranks if a data
/// set is invalid.
/// @param leaves     of this rank
/// @param labels     null for each leaf, or its array of labels per cell
/// @param withLabels whether only cells of equal labels are connected
/// @param tolerance  points of two cells coincide if they are not further apart than this fraction
///                   of the smaller cell's diagonal; 0: only if their coordinates are equal
/// @param options    of the union that joins such points
/// @return null after an abort
[[nodiscard]] std::unique_ptr<const ComponentDomain> makeComponentDomain(
    Transport& transport, const std::vector<Leaf>& leaves, const std::vector<vtkDataArray*>& labels,
    bool withLabels, Through through, double tolerance, const UnionOptions& options);

}  // namespace tributary
