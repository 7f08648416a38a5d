// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <vector>

#include "Common/Leaves.h"

#include "Tributary/Components/Connection.h"
#include "Tributary/Components/TreeLeaves.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// What makes cells and points of different data sets the same; alike on all ranks.
struct DomainRules {
  enum class Cells {
    Ids,         ///< Global ids.
    Structured,  ///< Their place in the one extent that all data sets are pieces of.
    Places       ///< Their least point and the coordinates of all; of trees, the least corner.
  };
  enum class Points {
    Ids,         ///< Global ids.
    Structured,  ///< Their place in the extent.
    Hierarchy,   ///< Their place in the finest lattice of the one AMR hierarchy.
    Places,      ///< Their coordinates.
    Clusters,    ///< Whatever lies close to them: see Tolerance.
    Trees        ///< Their place in the finest level of the one lattice of hyper trees.
  };
  Cells cells = Cells::Places;
  Points points = Points::Places;
  Through through = Through::Points;
  bool withLabels = false;         ///< Cells connect only within equal values.
  bool hasPointIds = false;        ///< Whether all data sets have global ids of points ...
  bool hasCellIds = false;         ///< ... and of cells,
  bool isOneExtent = false;        ///< or are pieces of one extent.
  std::array<int, 6> whole{};      ///< The one extent.
  std::array<double, 3> origin{};  ///< Of the hierarchy's finest lattice.
  std::array<double, 3> finest{};  ///< Its spacing.
  TreeLattice trees;               ///< Of hyper trees.
};

/// Collective. The rules for the data sets of all ranks, the same on all of them; what the user
/// decides (through, withLabels, clusters) is left to the caller. Every rank looks at a short
/// description of each data set.
DomainRules agreeOnRules(Transport& transport, const std::vector<Leaf>& leaves);

}  // namespace tributary
