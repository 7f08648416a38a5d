// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/Pieces/DomainRules.h"

#include <vtkCellData.h>
#include <vtkImageData.h>
#include <vtkPointData.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include "Common/GridParts.h"
#include "Periodic/WholeLattice.h"
#include "Regions/Pieces/HyperTrees.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {
namespace {

/// What decides how the data sets of all ranks are put together. Trivially copyable, and flags are
/// not bools, so that any bytes are a value.
struct Traits {
  std::uint8_t hasCells;
  std::uint8_t isUniform;
  std::uint8_t isComposite;
  std::uint8_t hasPointIds;
  std::uint8_t hasCellIds;
  std::uint8_t isTrees;
  std::array<AxisDirection, 3> directions;
  int grid;  // -1 if it is not structured
  int level;
  std::uint64_t hierarchy;
  std::uint64_t roots;  // of trees
  TreeLattice trees;
  std::array<int, 6> extent;
  std::array<double, 6> lattice;  // origin, spacing
};

Traits traitsOf(const Leaf& leaf) {
  Traits traits{};
  vtkDataSet* dataSet = leaf.dataSet;
  traits.hasCells = leaf.cells() > 0;
  traits.isComposite = !leaf.group.empty();
  traits.hasCellIds = leaf.cellData()->GetGlobalIds() != nullptr;
  if (leaf.trees) {
    traits.isTrees = true;
    traits.roots = hashOfRoots(leaf.trees);
    traits.trees = latticeOf(leaf.trees);
    traits.level = -1;
    return traits;
  }
  traits.directions = directionsOf(dataSet);
  traits.hasPointIds = dataSet->GetPointData()->GetGlobalIds() != nullptr;
  traits.level = leaf.level;
  traits.hierarchy = std::hash<std::string>()(leaf.hierarchy);
  extentOf(dataSet, traits.extent.data());
  if (auto* image = vtkImageData::SafeDownCast(dataSet)) {
    traits.isUniform = true;
    std::copy_n(image->GetOrigin(), 3, traits.lattice.begin());
    std::copy_n(image->GetSpacing(), 3, traits.lattice.begin() + 3);
  }
  return traits;
}

/// The finest lattice of an AMR hierarchy: origin and spacing.
using FinestLattice = std::array<std::array<double, 3>, 2>;

/// If all data sets lie in the lattices of one AMR hierarchy, each level's a whole number of times
/// finer than the last.
std::optional<FinestLattice> findHierarchy(const std::vector<Traits>& all) {
  const auto spacing = [](const Traits& one, std::size_t a) { return one.lattice[3 + a]; };
  const auto begin = [&](const Traits& one, std::size_t a) {
    return one.lattice[a] + one.extent[2 * a] * spacing(one, a);
  };
  const auto end = [&](const Traits& one, std::size_t a) {
    return one.lattice[a] + one.extent[2 * a + 1] * spacing(one, a);
  };
  constexpr double Most = 0x1p42;  // larger numbers have too few digits for the tolerance
  const auto isWhole = [](double x) {
    return std::abs(x) < Most && std::abs(x - std::round(x)) < 1e-3;
  };
  FinestLattice lattice;
  auto& [origin, finest] = lattice;
  origin.fill(std::numeric_limits<double>::infinity());
  finest = origin;
  for (const Traits& one : all) {
    if (one.level < 0 || !one.isUniform || one.hierarchy != all.front().hierarchy)
      return std::nullopt;
    for (std::size_t a = 0; a < 3; ++a) {
      origin[a] = std::min(origin[a], begin(one, a));
      finest[a] = std::min(finest[a], spacing(one, a));
    }
  }
  for (const Traits& one : all)
    for (std::size_t a = 0; a < 3; ++a) {
      if (one.extent[2 * a] == one.extent[2 * a + 1]) continue;
      if (!(finest[a] > 0) || !isWhole(spacing(one, a) / finest[a]) ||
          !isWhole((begin(one, a) - origin[a]) / finest[a]) ||
          !(end(one, a) - origin[a] < Most * finest[a]))
        return std::nullopt;
    }
  if (all.empty()) return std::nullopt;
  return lattice;
}

/// Whether all data sets are hyper tree grids; their lattice is noted in the rules. Throws Error if
/// only some are, or if they do not fit together.
bool areTrees(const std::vector<Traits>& all, DomainRules& rules) {
  const Traits* first = nullptr;
  bool hasOthers = false;
  for (const Traits& one : all) {
    // Also data sets without cells: the pieces of trees cannot be written beside them.
    hasOthers = hasOthers || !one.isTrees;
    if (!one.hasCells || !one.isTrees) continue;
    if (!first) first = &one;
    if (one.roots != first->roots)
      throw Error(
          "the hyper tree grids do not have the same root cells and branch factor, so that "
          "touching "
          "cells cannot be found; run the filter on each grid");
    const std::int32_t depth = std::max(rules.trees.depth, one.trees.depth);
    rules.trees = one.trees;
    rules.trees.depth = depth;
  }
  if (first && hasOthers)
    throw Error(
        "the input has hyper tree grids and other data sets, whose cells cannot be "
        "connected; run the filter on each, or convert the hyper tree grids with Hyper "
        "Tree Grid To Unstructured Grid");
  rules.trees.check();
  return first != nullptr;
}

/// Notes in the rules after how many indices the data repeat. Throws Error if they cannot.
void continueIndices(DomainRules& rules) {
  if (!rules.isPeriodic()) return;
  if (rules.hasGap() && rules.points != DomainRules::Points::Structured)
    throw Error(
        "Period is longer than the input, but the gap can only be closed in a single uniform or "
        "rectilinear grid, not in a hierarchy, in blocks that do not form one grid, or in a mesh; "
        "set Period to the length of the input if its opposite sides are in the same place, or "
        "resample it");
  for (std::size_t a = 0; a < 3; ++a) {
    const PeriodicAxis& axis = rules.periodic[a];
    if (!axis.isPeriodic) continue;
    if (rules.points == DomainRules::Points::Structured) {
      rules.lowest[a] = rules.whole[2 * a];
      rules.around[a] = std::int64_t(rules.whole[2 * a + 1]) - rules.whole[2 * a];
      if (axis.hasGap()) ++rules.around[a];
    } else if (rules.points == DomainRules::Points::Hierarchy) {
      rules.lowest[a] = std::llround((axis.origin - rules.origin[a]) / rules.finest[a]);
      rules.around[a] = std::llround(axis.period / rules.finest[a]);
    }
  }
}

}  // namespace

DomainRules agreeOnRules(Transport& transport, const std::vector<Leaf>& leaves,
                         const PeriodicAxes& periodic) {
  const std::vector<int> grids = numberGrids(transport, leaves);
  std::vector<Traits> mine;
  collectively(transport, [&] {
    for (const Leaf& leaf : leaves) {
      mine.push_back(traitsOf(leaf));
      mine.back().grid = grids[mine.size() - 1];
    }
  });
  const std::vector<Traits> all = allgatherv(transport, mine);
  DomainRules rules;
  rules.periodic = periodic;
  bool oneGrid = true, pointIds = true, cellIds = true;
  std::array<AxisDirection, 3> directions;
  const Traits* first = nullptr;
  for (std::size_t a = 0; a < 3; ++a) {
    rules.whole[2 * a] = std::numeric_limits<int>::max();
    rules.whole[2 * a + 1] = std::numeric_limits<int>::min();
  }
  for (const Traits& one : all) {
    if (!one.hasCells) continue;
    if (!first) first = &one;
    // Pieces of a composite data set may each count from the beginning, unless they say where they
    // lie.
    oneGrid =
        oneGrid && one.grid >= 0 && one.grid == first->grid && (one.isUniform || !one.isComposite);
    pointIds = pointIds && one.hasPointIds && !one.isComposite;
    cellIds = cellIds && one.hasCellIds && !one.isComposite;
    for (std::size_t a = 0; a < 3; ++a) {
      directions[a].increases = directions[a].increases && one.directions[a].increases;
      directions[a].decreases = directions[a].decreases && one.directions[a].decreases;
      rules.whole[2 * a] = std::min(rules.whole[2 * a], one.extent[2 * a]);
      rules.whole[2 * a + 1] = std::max(rules.whole[2 * a + 1], one.extent[2 * a + 1]);
    }
  }
  if (!first) oneGrid = pointIds = cellIds = false;
  rules.hasPointIds = pointIds;
  rules.hasCellIds = cellIds;
  rules.isOneExtent = oneGrid;
  if (areTrees(all, rules)) {
    rules.points = DomainRules::Points::Trees;
  } else if (const auto lattice = findHierarchy(all)) {
    rules.points = DomainRules::Points::Hierarchy;
    rules.origin = (*lattice)[0];
    rules.finest = (*lattice)[1];
  } else {
    // Indices of a curved grid do not say along which axis it continues.
    const bool alongAxes =
        std::all_of(directions.begin(), directions.end(),
                    [](const AxisDirection& one) { return one.increases || one.decreases; });
    const bool byIndex = oneGrid && (alongAxes || !rules.isPeriodic());
    rules.points = byIndex    ? DomainRules::Points::Structured
                   : pointIds ? DomainRules::Points::Ids
                              : DomainRules::Points::Places;
  }
  rules.cells = cellIds                                           ? DomainRules::Cells::Ids
                : rules.points == DomainRules::Points::Structured ? DomainRules::Cells::Structured
                                                                  : DomainRules::Cells::Places;
  continueIndices(rules);
  return rules;
}

}  // namespace tributary
