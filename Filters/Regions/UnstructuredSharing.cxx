// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/UnstructuredPiece.h"

#include <algorithm>
#include <utility>

#include "Common/SmpFor.h"
#include "Regions/PointVisits.h"

#include "Tributary/Components/CoincidentPoints.h"

namespace tributary {

std::vector<LoosePoint> UnstructuredPiece::loosePoints(double tolerance) const {
  std::vector<LoosePoint> loose;
  for (std::int64_t p = 0; p < points(); ++p) loose.push_back({coordinates_[p], 0});
  for (std::int64_t c = 0; c < count_; ++c) {
    const auto ids = ownPointsOf(c);
    std::array<double, 3> lo, hi;
    lo.fill(RegionFacts::Infinity);
    hi.fill(-RegionFacts::Infinity);
    for (const std::int64_t p : ids) {
      for (std::size_t a = 0; a < 3; ++a) {
        lo[a] = std::min(lo[a], loose[index(p)].place[a]);
        hi[a] = std::max(hi[a], loose[index(p)].place[a]);
      }
    }
    double squares = 0;
    for (std::size_t a = 0; a < 3; ++a) squares += (hi[a] - lo[a]) * (hi[a] - lo[a]);
    const double reach = tolerance * std::sqrt(squares);
    for (const std::int64_t p : ids) loose[index(p)].reach = std::max(loose[index(p)].reach, reach);
  }
  return loose;
}

void UnstructuredPiece::identify(const std::vector<SetName>& names) {
  mergePoints(&names);
}

void UnstructuredPiece::mergePoints(const std::vector<SetName>* names) {
  if (count_ == 0) {
    first_ = {};
  } else if (names || rules_.points == DomainRules::Points::Ids) {
    // As points in space, to be merged like those: a block's number and the halves of an id are
    // exact as doubles.
    std::vector<double> places;
    places.reserve(3 * index(points()));
    const auto add = [&](std::int64_t block, std::int64_t id) {
      places.push_back(static_cast<double>(id & 0xffffffff));
      places.push_back(static_cast<double>(id >> 32));
      places.push_back(static_cast<double>(block));
    };
    if (names) {
      for (const SetName& name : *names) add(name.block, name.set);
    } else {
      for (const std::int64_t id : pointIds_) add(0, id);
    }
    first_ = mergeCoincident(Span<const double>(places), smpFor);
  } else if (coordinates_.doubles()) {
    first_ =
        mergeCoincident(Span<const double>(coordinates_.doubles(), index(3 * points())), smpFor);
  } else {
    first_ = mergeCoincident(Span<const float>(coordinates_.floats(), index(3 * points())), smpFor);
  }
  for (std::size_t p = 0; p < first_.size(); ++p)
    if (first_[p] != static_cast<std::int64_t>(p))
      copies_.emplace_back(first_[p], static_cast<std::int64_t>(p));
  std::sort(copies_.begin(), copies_.end());
  cellPoints_ = {lists_.offsets, lists_.connectivity, points()};
  if (copies_.empty()) {
    first_ = {};
  } else {
    mergedPoints_.reserve(lists_.connectivity.size());
    for (const std::int64_t p : lists_.connectivity) mergedPoints_.push_back(first_[index(p)]);
    cellPoints_.entities = mergedPoints_;
  }
  if (!throughPoints()) {
    MeshCells mesh;
    mesh.types = lists_.types;
    mesh.offsets = lists_.offsets;
    mesh.connectivity = lists_.connectivity;
    mesh.faceLocations = lists_.faceLocations;
    mesh.faces = lists_.faces;
    mesh.pointCount = points();
    mesh.canonical = first_;
    numbered_ = numberEntities(mesh, rules_.through, {}, smpFor);
  }
}

std::array<double, 3> UnstructuredPiece::whereToLook(std::int64_t point) const {
  if (rules_.points != DomainRules::Points::Ids) return coordinates_[point];
  return {static_cast<double>(pointIds_[index(point)]), 0, 0};
}

std::vector<std::int64_t> UnstructuredPiece::pointsIn(Span<const NeighborPiece> others) const {
  std::vector<std::int64_t> found;
  if (others.empty() || count_ == 0) return found;
  for (std::int64_t p = 0; p < points(); ++p) {
    const std::array<double, 3> here = whereToLook(p);
    if (std::any_of(others.begin(), others.end(),
                    [&](const NeighborPiece& other) { return other.box.contains(here.data()); }))
      found.push_back(firstOf(p));
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<EntityKey> UnstructuredPiece::connectionKeys(Span<const NeighborPiece>) {
  connections_.clear();
  std::vector<EntityKey> keys;
  if (shared_.empty()) return keys;
  std::vector<EntityKey> corners;
  std::vector<std::int64_t> points;
  const auto keyOfNumbered = [&](std::int64_t entity, EntityKey& key) {
    if (throughPoints()) {
      const std::int64_t at = sharedIndex(entity);
      if (at < 0) return false;
      key = sharedKeys_[index(at)];
      return true;
    }
    corners.clear();
    numbered_.pointsOf(entity, points);
    for (const std::int64_t p : points) {
      const std::int64_t at = sharedIndex(p);
      if (at < 0) return false;
      corners.push_back(sharedKeys_[index(at)]);
    }
    key = corners.size() == 1 ? corners[0] : keyOfEntity(corners);
    return true;
  };
  borderCells_.clear();
  for (std::int64_t c = 0; c < count_; ++c) {
    const auto ids = pointsOf(c);
    if (std::any_of(ids.begin(), ids.end(), [&](std::int64_t p) { return isShared(p); }))
      borderCells_.push_back(c);
  }
  for (const std::int64_t c : borderCells_)
    for (const std::int64_t e : entitiesOf(c))
      connections_.emplace_back(e, rules_.withLabels ? values_[index(c)] : 0);
  std::sort(connections_.begin(), connections_.end());
  connections_.erase(std::unique(connections_.begin(), connections_.end()), connections_.end());
  std::vector<Connection> shared;
  for (const Connection& connection : connections_) {
    EntityKey key;
    if (!keyOfNumbered(connection.first, key)) continue;
    shared.push_back(connection);
    keys.push_back(rules_.withLabels ? withValue(key, connection.second) : key);
  }
  connections_ = std::move(shared);
  return keys;
}

std::vector<std::uint32_t> UnstructuredPiece::setsOfConnections() const {
  std::vector<std::uint32_t> sets(connections_.size(), NoSet);
  for (const std::int64_t c : borderCells_) {
    if (setOfCell(c) == NoSet) continue;
    const std::int64_t value = rules_.withLabels ? values_[index(c)] : 0;
    for (const std::int64_t e : entitiesOf(c)) {
      const Connection connection(e, value);
      const auto at = std::lower_bound(connections_.begin(), connections_.end(), connection);
      if (at != connections_.end() && *at == connection)
        sets[static_cast<std::size_t>(at - connections_.begin())] = setOfCell(c);
    }
  }
  return sets;
}

std::vector<SetAtPoint> UnstructuredPiece::setsAtShared() const {
  if (shared_.empty()) return {};
  return setsAtPoints(
      count_, [&](std::int64_t c) { return setOfCell(c); },
      [&](std::int64_t c) { return pointsOf(c); }, [&](std::int64_t p) { return sharedIndex(p); });
}

}  // namespace tributary
