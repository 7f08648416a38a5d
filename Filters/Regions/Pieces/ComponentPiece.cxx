// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/Pieces/ComponentPiece.h"

#include <vtkCellData.h>

#include <atomic>
#include <cmath>
#include <utility>

#include "Common/CellLists.h"
#include "Common/SmpFor.h"

namespace tributary {

SharedPoints::SharedPoints(std::vector<std::int64_t> points, std::vector<EntityKey> keys,
                           std::int64_t pointCount)
    : points_(std::move(points)), keys_(std::move(keys)) {
  if (points_.empty()) return;
  bits_.resize(index((pointCount + 63) / 64));
  for (const std::int64_t point : points_)
    bits_[index(point >> 6)] |= std::uint64_t(1) << (point & 63);
  before_.reserve(bits_.size());
  std::uint32_t before = 0;
  for (const std::uint64_t word : bits_) {
    before_.push_back(before);
    before += static_cast<std::uint32_t>(__builtin_popcountll(word));
  }
}

std::int64_t SharedPoints::countBefore(std::int64_t point) const {
  const std::size_t word = index(point >> 6);
  if (word >= bits_.size()) return static_cast<std::int64_t>(points_.size());
  const std::uint64_t below = bits_[word] & ((std::uint64_t(1) << (point & 63)) - 1);
  return before_[word] + __builtin_popcountll(below);
}

ComponentPiece::ComponentPiece(PieceSource&& source, const DomainRules& rules)
    : rules_(rules), flags_(std::move(source.flags)), values_(std::move(source.labels)) {
  setLeaf(source.leaf);
  if (rules_.cells == DomainRules::Cells::Ids && cells() > 0)
    cellIds_ = exactIds(leaf_.cellData()->GetGlobalIds());
}

void ComponentPiece::setLeaf(const Leaf& leaf) {
  leaf_ = leaf;
  if (rules_.points != DomainRules::Points::Hierarchy) leaf_.level = -1;  // levels have no lattice
}

void ComponentPiece::refer(const Leaf& leaf) {
  setLeaf(leaf);
  readAgain();
}

std::unique_ptr<SharedPiece> ComponentPiece::share(Span<const NeighborPiece> others,
                                                   bool connect) const {
  std::vector<std::int64_t> found = pointsIn(others);
  if (!sides_.points.empty()) {
    found.insert(found.end(), sides_.points.begin(), sides_.points.end());
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
  }
  std::vector<EntityKey> keys;
  keys.reserve(found.size());
  for (const std::int64_t point : found) {
    const std::int64_t side = sides_.find(point);
    keys.push_back(side >= 0 ? sides_.keys[index(side)] : keyOf(point));
  }
  return shareMore(SharedPoints(std::move(found), std::move(keys), points()), others, connect);
}

EntityKey ComponentPiece::keyOfPoints(Span<const std::int64_t> points, Span<EntityKey> keys) const {
  unsigned any = 0, all = 7;
  for (const std::int64_t point : points) {
    const std::int64_t side = sides_.points.empty() ? -1 : sides_.find(point);
    const unsigned upper = side >= 0 ? sides_.upper[index(side)] : 0u;
    any |= upper;
    all &= upper;
  }
  const EntityKey key = keys.size() == 1 ? keys[0] : keyOfEntity(keys);
  return (any & ~all) == 0 ? key : withValue(key, any & ~all);
}

CellSizes ComponentPiece::measureCells(const std::function<bool(std::int64_t)>& isWanted) const {
  CellSizes sizes(cells());
  std::atomic<bool> hasOthers{false};
  const auto measureIf = [&](std::int64_t cell, bool concurrently) {
    if (!isWanted(cell)) return;
    if (isMeasuredConcurrently(cell) == concurrently)
      sizes.set(cell, measure(cell));
    else
      hasOthers = true;
  };
  smpFor(cells(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t cell = begin; cell < end; ++cell) measureIf(cell, true);
  });
  if (hasOthers)
    for (std::int64_t cell = 0; cell < cells(); ++cell) measureIf(cell, false);
  return sizes;
}

void NearestPoints::add(const std::array<double, 3>& where, const std::array<double, 3>& point,
                        std::uint32_t set, const PeriodicAxes& periodic) {
  double squares = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    double distance = std::abs(point[a] - where[a]);
    if (periodic[a].isPeriodic) {
      // Both copies of a point on the sides have this distance, apart from rounding.
      distance = std::fmod(distance, periodic[a].period);
      distance = std::min(distance, periodic[a].period - distance);
    }
    squares += distance * distance;
  }
  if (!(squares <= distance2)) return;
  if (squares < distance2) sets.clear();
  distance2 = squares;
  if (sets.empty() || sets.back() != set) sets.push_back(set);
}

void LabeledPiece::visitOwnCells(const VisitCells& visit) const {
  for (std::int64_t c = 0; c < piece_.cells(); ++c) {
    const std::uint32_t set = setOfCell(c);
    if (set != NoSet && !piece_.isGhost(c)) visit(c, c + 1, set);
  }
}

void LabeledPiece::visitCells(std::int64_t begin, std::int64_t end, const VisitCells& visit) const {
  for (std::int64_t c = begin; c < end; ++c)
    if (const std::uint32_t set = setOfCell(c); set != NoSet) visit(c, c + 1, set);
}

std::vector<std::uint32_t> LabeledPiece::setsOfShared() const {
  std::vector<std::uint32_t> sets(points_.points().size(), NoSet);
  for (const SetAtPoint& at : setsAtShared()) sets[index(at.shared)] = at.set;
  return sets;
}

RegionKey placeKey(const std::array<double, 3>& least, const EntityKey& all) {
  return {orderedBits(least[0]), orderedBits(least[1]), orderedBits(least[2]), all.low};
}

EntityKey withValue(const EntityKey& key, std::int64_t value) {
  return keyOfStructured(key.high, static_cast<std::int64_t>(key.low), value, 0, -1);
}

}  // namespace tributary
