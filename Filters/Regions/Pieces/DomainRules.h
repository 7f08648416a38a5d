// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <vector>

#include "Common/Leaves.h"

#include "Tributary/Components/Connection.h"
#include "Tributary/Components/TreeLeaves.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Rules that identify cells and points of different data sets. The same on all ranks.
struct DomainRules {
  enum class Cells {
    Ids,         ///< Global ids.
    Structured,  ///< Position in the extent that all data sets are pieces of.
    Places       ///< Least point and coordinates of all points; of trees, the least corner.
  };
  enum class Points {
    Ids,         ///< Global ids.
    Structured,  ///< Position in the extent.
    Hierarchy,   ///< Position in the finest lattice of the AMR hierarchy.
    Places,      ///< Coordinates.
    Clusters,    ///< Coordinates within a distance: see Tolerance.
    Trees        ///< Position in the finest level of the lattice of hyper trees.
  };
  Cells cells = Cells::Places;
  Points points = Points::Places;
  Through through = Through::Points;
  bool withLabels = false;         ///< Whether only cells of equal labels connect.
  bool hasPointIds = false;        ///< Whether all data sets have global point ids.
  bool hasCellIds = false;         ///< Whether all data sets have global cell ids.
  bool isOneExtent = false;        ///< Whether all data sets are pieces of one extent.
  std::array<int, 6> whole{};      ///< The extent, if isOneExtent.
  std::array<double, 3> origin{};  ///< Origin of the finest lattice of the hierarchy.
  std::array<double, 3> finest{};  ///< Spacing of this lattice.
  TreeLattice trees;               ///< Lattice of hyper trees.
};

/// Collective. Returns the rules for the data sets of all ranks, the same on all ranks. The rules
/// that the user selects (through, withLabels, clusters) are left to the caller. Each rank examines
/// a short description of each data set.
[[nodiscard]] DomainRules agreeOnRules(Transport& transport, const std::vector<Leaf>& leaves);

}  // namespace tributary
