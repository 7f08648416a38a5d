// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "Common/Leaves.h"
#include "Periodic/PeriodicAxes.h"

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
  PeriodicAxes periodic;           ///< How the data continue along the axes.
  /// By axis, if points are identified by indices: the first index, and after how many indices the
  /// data repeat; 0 if they do not.
  std::array<std::int64_t, 3> lowest{}, around{};

  bool isPeriodic() const {
    return periodic[0].isPeriodic || periodic[1].isPeriodic || periodic[2].isPeriodic;
  }
  bool hasGap() const {
    return periodic[0].hasGap() || periodic[1].hasGap() || periodic[2].hasGap();
  }
  /// Whether indices identify points.
  bool hasIndices() const { return points == Points::Structured || points == Points::Hierarchy; }
  /// An index as the first one that denotes the same place.
  std::array<std::int64_t, 3> wrapped(std::array<std::int64_t, 3> at) const {
    for (std::size_t a = 0; a < 3; ++a) {
      if (around[a] == 0) continue;
      const std::int64_t rest = (at[a] - lowest[a]) % around[a];
      at[a] = lowest[a] + (rest < 0 ? rest + around[a] : rest);
    }
    return at;
  }
};

/// Collective. Returns the rules for the data sets of all ranks, the same on all ranks. The rules
/// that the user selects (through, withLabels, clusters) are left to the caller. Each rank examines
/// a short description of each data set.
/// @throws Error on all ranks if the data do not fit together, or cannot continue along the axes
[[nodiscard]] DomainRules agreeOnRules(Transport& transport, const std::vector<Leaf>& leaves,
                                       const PeriodicAxes& periodic = {});

}  // namespace tributary
