// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/UnstructuredPiece.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "Common/SmpFor.h"

namespace tributary {

Extremes UnstructuredPiece::extremes(const std::vector<MeasuredValues>& arrays) const {
  Extremes extremes;
  extremes.values.resize(arrays.size(), 0);
  const auto consider = [](double value, double& largest) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  };
  for (std::int64_t c = 0; c < count_; ++c) {
    if (setOfCell(c) == NoSet || isGhost(c)) continue;
    consider(sizes_[index(c)].measure, extremes.measure);
    for (const double x : sizes_[index(c)].centroid) consider(x, extremes.coordinate);
    for (std::size_t v = 0; v < arrays.size(); ++v)
      considerValues(arrays[v], c, ownPointsOf(c), extremes.values[v]);
  }
  return extremes;
}

RegionKey UnstructuredPiece::keyOf(std::int64_t cell, const std::array<double, 3>& least) const {
  std::vector<EntityKey> corners;
  for (const std::int64_t p : ownPointsOf(cell))
    corners.push_back(keyOfPoint(coordinates_[p].data()));
  EntityKey all = withValue(keyOfEntity(corners), lists_.types[index(cell)]);
  if (rules_.withLabels) all = withValue(all, values_[index(cell)]);
  return placeKey(least, all);
}

BlockFacts UnstructuredPiece::facts(const FactScales& scales,
                                    const std::vector<MeasuredValues>& arrays) const {
  BlockFacts facts;
  facts.sets.resize(labels_.sets);
  facts.values.resize(labels_.sets * arrays.size());
  constexpr double far = RegionFacts::Infinity;
  std::vector<std::array<double, 3>> leastOfSet(labels_.sets, {far, far, far});
  for (std::int64_t c = 0; c < count_; ++c) {
    if (setOfCell(c) == NoSet || isGhost(c)) continue;
    RegionFacts& set = facts.sets[setOfCell(c)];
    ++set.cells;
    const CellSize& size = sizes_[index(c)];
    const double weight = scales.hasMeasure ? size.measure : 1;
    if (std::isfinite(size.measure)) set.measure += scales.measure.fixed(size.measure);
    for (std::size_t a = 0; a < 3; ++a) {
      const double moment = weight * size.centroid[a];
      if (std::isfinite(moment)) set.moment[a] += scales.moment.fixed(moment);
    }
    std::array<double, 3> least = {far, far, far};
    for (const std::int64_t p : ownPointsOf(c)) {
      const std::array<double, 3> here = coordinates_[p];
      least = std::min(least, here);
      for (std::size_t a = 0; a < 3; ++a) {
        set.lo[a] = std::min(set.lo[a], here[a]);
        set.hi[a] = std::max(set.hi[a], here[a]);
      }
    }
    if (rules_.cells == DomainRules::Cells::Ids) {
      set.key =
          std::min(set.key, RegionKey{static_cast<std::uint64_t>(cellIds_[index(c)]), 0, 0, 0});
    } else if (least <= leastOfSet[setOfCell(c)]) {
      leastOfSet[setOfCell(c)] = least;
      set.key = std::min(set.key, keyOf(c, least));
    }
    const auto own = ownPointsOf(c);
    for (std::size_t v = 0; v < arrays.size(); ++v)
      addValues(arrays[v], c, static_cast<std::int64_t>(own.size()), own.data(), weight,
                scales.integrals[v], facts.values[setOfCell(c) * arrays.size() + v]);
  }
  return facts;
}

}  // namespace tributary
