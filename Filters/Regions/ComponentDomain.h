// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "Regions/ComponentPiece.h"

#include "Tributary/Collective/Assignment.h"
#include "Tributary/Components/DistributedUnion.h"
#include "Tributary/Components/Matching.h"
#include "Tributary/Transport/Transport.h"

class vtkDataArray;

namespace tributary {

/// The data sets of all ranks as one domain of connected cells. Views the data sets, which must
/// outlive it. Every rank knows the bounds of all data sets, and compares each of its own with
/// them: fine for thousands a rank.
struct ComponentDomain {
  explicit ComponentDomain(Assignment blocks) : assignment(std::move(blocks)) {}

  DomainRules rules;
  Assignment assignment;                                ///< Blocks are data sets.
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

}  // namespace tributary
