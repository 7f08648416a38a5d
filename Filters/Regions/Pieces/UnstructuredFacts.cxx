// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include "Regions/Pieces/UnstructuredPiece.h"

namespace tributary {

Extremes LabeledMesh::extremes(const std::vector<MeasuredValues>& arrays) const {
  Extremes extremes;
  extremes.values.resize(arrays.size(), 0);
  const auto consider = [](double value, double& largest) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  };
  for (std::int64_t c = 0; c < mesh_.mesh_.count; ++c) {
    if (setOfCell(c) == NoSet || mesh_.isGhost(c)) continue;
    const CellSize size = sizes_[c];
    consider(size.measure, extremes.measure);
    for (const double x : size.centroid) consider(x, extremes.coordinate);
    for (std::size_t v = 0; v < arrays.size(); ++v)
      considerValues(arrays[v], c, mesh_.mesh_.pointsOf(c), extremes.values[v]);
  }
  return extremes;
}

RegionKey LabeledMesh::keyOf(std::int64_t cell, const std::array<double, 3>& least) const {
  std::vector<EntityKey> corners;
  for (const std::int64_t p : mesh_.mesh_.pointsOf(cell))
    corners.push_back(keyOfPoint(mesh_.place(p).data()));
  EntityKey all = withValue(keyOfEntity(corners), mesh_.mesh_.lists.types[index(cell)]);
  if (mesh_.rules_.withLabels) all = withValue(all, mesh_.values_[index(cell)]);
  return placeKey(least, all);
}

std::array<double, 3> LabeledMesh::addCell(std::int64_t cell, double weight,
                                           const FactScales& scales, RegionFacts& set) const {
  const CellSize size = sizes_[cell];
  set.measure += scales.measure.fixed(size.measure);
  for (std::size_t a = 0; a < 3; ++a)
    set.moment[a] += scales.moment.fixed(weight * size.centroid[a]);
  constexpr double Far = RegionFacts::Infinity;
  std::array<double, 3> least = {Far, Far, Far};
  for (const std::int64_t p : mesh_.mesh_.pointsOf(cell)) {
    const std::array<double, 3> here = mesh_.mesh_.coordinates[p];
    least = std::min(least, here);
    for (std::size_t a = 0; a < 3; ++a) {
      set.lo[a] = std::min(set.lo[a], here[a]);
      set.hi[a] = std::max(set.hi[a], here[a]);
    }
  }
  return least;
}

BlockFacts LabeledMesh::facts(const FactScales& scales,
                              const std::vector<MeasuredValues>& arrays) const {
  BlockFacts facts;
  facts.sets.resize(labels_.sets);
  facts.values.resize(labels_.sets * arrays.size());
  constexpr double Far = RegionFacts::Infinity;
  std::vector<std::array<double, 3>> leastOfSet(labels_.sets, {Far, Far, Far});
  for (std::int64_t c = 0; c < mesh_.mesh_.count; ++c) {
    const std::uint32_t number = setOfCell(c);
    if (number == NoSet || mesh_.isGhost(c)) continue;
    RegionFacts& set = facts.sets[number];
    ++set.cells;
    const double weight = scales.hasMeasure ? sizes_[c].measure : 1;
    const std::array<double, 3> least = addCell(c, weight, scales, set);
    if (mesh_.rules_.cells == DomainRules::Cells::Ids) {
      const auto id = static_cast<std::uint64_t>(mesh_.cellIds_[index(c)]);
      set.key = std::min(set.key, RegionKey{id, 0, 0, 0});
    } else if (least <= leastOfSet[number]) {
      leastOfSet[number] = least;
      set.key = std::min(set.key, keyOf(c, least));
    }
    const auto own = mesh_.mesh_.pointsOf(c);
    for (std::size_t v = 0; v < arrays.size(); ++v)
      addValues(arrays[v], c, static_cast<std::int64_t>(own.size()), own.data(), weight,
                scales.integrals[v], facts.values[number * arrays.size() + v]);
  }
  return facts;
}

}  // namespace tributary
