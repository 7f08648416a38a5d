// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include "Regions/Pieces/PointVisits.h"
#include "Regions/Pieces/UnstructuredPiece.h"

namespace tributary {

std::array<double, 3> UnstructuredPiece::whereToLook(std::int64_t point) const {
  if (rules_.points != DomainRules::Points::Ids) return place(point);
  return {static_cast<double>(pointIds_[index(point)]), 0, 0};
}

EntityKey UnstructuredPiece::keyOf(std::int64_t point) const {
  if (rules_.points == DomainRules::Points::Clusters) {
    const SetName& cluster = clusters_[index(point)];
    return keyOfStructured(0, cluster.block, cluster.set, 0, 0);
  }
  if (rules_.points == DomainRules::Points::Ids) return keyOfPoint(pointIds_[index(point)]);
  return keyOfPoint(place(point).data());
}

NeighborPiece UnstructuredPiece::outline() const {
  NeighborPiece outline;
  outline.level = leaf_.level;
  if (mesh_.count == 0) return outline;  // an empty box
  Box& box = outline.box;
  box.lo.fill(RegionFacts::Infinity);
  box.hi.fill(-RegionFacts::Infinity);
  for (std::int64_t p = 0; p < points(); ++p) {
    const std::array<double, 3> here = whereToLook(p);
    for (std::size_t a = 0; a < 3; ++a) {
      box.lo[a] = std::min(box.lo[a], here[a]);
      box.hi[a] = std::max(box.hi[a], here[a]);
    }
  }
  return outline;
}

std::vector<std::int64_t> UnstructuredPiece::pointsIn(Span<const NeighborPiece> others) const {
  std::vector<std::int64_t> found;
  if (others.empty() || mesh_.count == 0) return found;
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

std::vector<std::int64_t> UnstructuredPiece::borderCells(const SharedPoints& shared) const {
  std::vector<std::int64_t> cells;
  for (std::int64_t c = 0; c < mesh_.count; ++c) {
    const auto ids = pointsOf(c);
    if (std::any_of(ids.begin(), ids.end(), [&](std::int64_t p) { return shared.contains(p); }))
      cells.push_back(c);
  }
  return cells;
}

std::vector<EntityKey> UnstructuredPiece::connect(const SharedPoints& shared,
                                                  const std::vector<std::int64_t>& borderCells,
                                                  std::vector<Connection>& connections) const {
  std::vector<EntityKey> corners;
  std::vector<std::int64_t> points;
  const auto findKey = [&](std::int64_t entity, EntityKey& key) {
    if (throughPoints()) {
      const std::int64_t at = shared.find(entity);
      if (at < 0) return false;
      key = shared.keys()[index(at)];
      return true;
    }
    corners.clear();
    numbered_.pointsOf(entity, points);
    for (const std::int64_t p : points) {
      const std::int64_t at = shared.find(p);
      if (at < 0) return false;
      corners.push_back(shared.keys()[index(at)]);
    }
    key = keyOfPoints(points, corners);
    return true;
  };
  std::vector<Connection> all;
  for (const std::int64_t c : borderCells)
    for (const std::int64_t e : entitiesOf(c))
      all.emplace_back(e, rules_.withLabels ? values_[index(c)] : 0);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::vector<EntityKey> keys;
  for (const Connection& connection : all) {
    EntityKey key;
    if (!findKey(connection.first, key)) continue;
    connections.push_back(connection);
    keys.push_back(rules_.withLabels ? withValue(key, connection.second) : key);
  }
  return keys;
}

std::unique_ptr<SharedPiece> UnstructuredPiece::shareMore(SharedPoints&& shared,
                                                          Span<const NeighborPiece>,
                                                          bool connect) const {
  std::vector<EntityKey> connectionKeys;
  std::vector<Connection> connections;
  std::vector<std::int64_t> border;
  if (connect && !shared.empty()) {
    border = borderCells(shared);
    connectionKeys = this->connect(shared, border, connections);
  }
  return std::make_unique<SharedMesh>(*this, std::move(shared), std::move(connectionKeys),
                                      std::move(connections), std::move(border));
}

std::vector<std::uint32_t> LabeledMesh::setsOfConnections() const {
  const auto& connections = shared_.connections();
  std::vector<std::uint32_t> sets(connections.size(), NoSet);
  for (const std::int64_t c : shared_.borderCells()) {
    if (setOfCell(c) == NoSet) continue;
    const std::int64_t value = mesh_.rules_.withLabels ? mesh_.values_[index(c)] : 0;
    for (const std::int64_t e : mesh_.entitiesOf(c)) {
      const SharedMesh::Connection connection(e, value);
      const auto at = std::lower_bound(connections.begin(), connections.end(), connection);
      if (at != connections.end() && *at == connection)
        sets[static_cast<std::size_t>(at - connections.begin())] = setOfCell(c);
    }
  }
  return sets;
}

std::vector<SetAtPoint> LabeledMesh::setsAtShared() const {
  if (points_.empty()) return {};
  return setsAtPoints(
      mesh_.mesh_.count, [&](std::int64_t c) { return setOfCell(c); },
      [&](std::int64_t c) { return mesh_.pointsOf(c); },
      [&](std::int64_t p) { return points_.find(p); });
}

}  // namespace tributary
