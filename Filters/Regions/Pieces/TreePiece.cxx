// SPDX-License-Identifier: BSD-3-Clause
#include <vtkCellData.h>
#include <vtkHyperTreeGrid.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "Common/CellLists.h"
#include "Common/SmpFor.h"
#include "Regions/Pieces/HyperTrees.h"
#include "Regions/Pieces/PieceFactory.h"
#include "Regions/Pieces/PointVisits.h"

#include "Tributary/Collective/Agree.h"
#include "Tributary/Components/CoincidentPoints.h"
#include "Tributary/Components/UnionFind.h"

namespace tributary {
namespace {

/// The leaves of one hyper tree grid.
struct GridLeaves {
  TreeLeaves trees;
  std::vector<vtkIdType> cells;  ///< Of each leaf.

  GridLeaves(const Leaf& leaf, const DomainRules& rules) {
    HyperTreeLeaves found = hyperTreeLeaves(leaf.trees, rules.trees);
    cells = std::move(found.cells);
    trees = TreeLeaves(rules.trees, std::move(found.leaves));
  }
};

/// Leaves of hyper trees. Ghosts do not take part, but get the region of their original.
///
/// A point is a corner of a leaf, by the number of the first corner at the same place: corner c of
/// leaf n has the number n * corners + c.
class TreePiece : public ComponentPiece {
 public:
  /// @param contacts  of its leaves with those of other pieces
  TreePiece(PieceSource&& source, const DomainRules& rules, GridLeaves&& leaves,
            std::vector<LeafContact> contacts);

  std::int64_t points() const override { return corners_ * count(); }
  std::array<double, 3> place(std::int64_t point) const override;
  std::size_t memory() const override;
  NeighborPiece outline() const override;

 private:
  // The next phases read the piece's data.
  friend class SharedTrees;
  friend class LabeledTrees;

  struct Extent {
    std::array<double, 3> lo, hi;
    double measure;
  };

  std::int64_t count() const { return static_cast<std::int64_t>(cells_.size()); }
  const TreeLeaf& at(std::int64_t leaf) const { return trees_.leaves()[index(leaf)]; }
  Span<const std::int64_t> pointsOf(std::int64_t leaf) const {
    return Span<const std::int64_t>(first_).subspan(index(corners_ * leaf), index(corners_));
  }
  /// Place of a point in the finest level.
  std::array<std::int64_t, 3> indexOf(std::int64_t point) const;
  double coordinate(std::size_t axis, std::int64_t place) const;
  Extent extentOfLeaf(std::int64_t leaf) const;
  /// The key of a cell by its global id or its least corner.
  RegionKey keyOfLeaf(std::int64_t leaf) const;
  std::vector<std::int64_t> pointsIn(Span<const NeighborPiece> others) const override;
  EntityKey keyOf(std::int64_t point) const override;
  [[nodiscard]] std::unique_ptr<SharedPiece> shareMore(SharedPoints&& shared,
                                                       Span<const NeighborPiece> others,
                                                       bool connect) const override;

  TreeLeaves trees_;
  std::vector<vtkIdType> cells_;             // of the leaves
  std::vector<std::uint32_t> leafOfCell_;    // NoSet for other cells
  std::array<std::vector<double>, 3> axes_;  // of the roots
  std::vector<std::int64_t> widths_;         // of the leaves of each level
  std::int64_t corners_ = 1;                 // of a leaf
  std::vector<std::int64_t> first_;          // of the corners at the same place
  std::vector<TreeLeaves::Pair> contacts_;   // within the piece
  std::vector<LeafContact> met_;             // with other pieces
};

/// What a piece of trees may have in common with others.
class SharedTrees : public SharedPiece {
 public:
  SharedTrees(const TreePiece& piece, SharedPoints points, std::vector<EntityKey> keys)
      : SharedPiece(std::move(points), std::move(keys)), piece_(piece) {}

  [[nodiscard]] std::unique_ptr<LabeledPiece> label(
      const RangeTest& test, Span<const std::uint64_t> gapElements) const override;

 private:
  const TreePiece& piece_;
};

/// The sets of a piece of trees.
class LabeledTrees : public LabeledPiece {
 public:
  LabeledTrees(const TreePiece& trees, const SharedTrees& shared, std::vector<std::uint32_t> setOf,
               std::uint32_t sets)
      : LabeledPiece(trees, shared.points()),
        trees_(trees),
        setOf_(std::move(setOf)),
        sets_(sets) {}

  std::uint32_t sets() const override { return sets_; }
  std::uint32_t setOfCell(std::int64_t cell) const override {
    const std::uint32_t leaf = trees_.leafOfCell_[index(cell)];
    return leaf == NoSet ? NoSet : setOf_[leaf];
  }
  std::vector<std::uint32_t> setsOfConnections() const override;
  std::vector<SetAtPoint> setsAtShared() const override;
  NearestPoints nearest(const std::array<double, 3>& place) const override;
  Extremes extremes(const std::vector<MeasuredValues>& arrays) const override;
  BlockFacts facts(const FactScales& scales,
                   const std::vector<MeasuredValues>& arrays) const override;
  void write(RegionOutput& output) const override;

 private:
  /// The set of a leaf that is no ghost.
  std::uint32_t ownSet(std::int64_t leaf) const {
    return trees_.at(leaf).isGhost != 0 ? NoSet : setOf_[index(leaf)];
  }

  const TreePiece& trees_;
  std::vector<std::uint32_t> setOf_;  // per leaf
  std::uint32_t sets_;
};

std::size_t TreePiece::memory() const {
  return ComponentPiece::memory() + trees_.memory() + memoryOf(cells_) + memoryOf(leafOfCell_) +
         memoryOf(first_) + memoryOf(contacts_) + memoryOf(met_);
}

TreePiece::TreePiece(PieceSource&& source, const DomainRules& rules, GridLeaves&& leaves,
                     std::vector<LeafContact> contacts)
    : ComponentPiece(std::move(source), rules),
      trees_(std::move(leaves.trees)),
      cells_(std::move(leaves.cells)),
      axes_(rootCoordinates(leaf_.trees)),
      met_(std::move(contacts)) {
  leafOfCell_.resize(index(cells()), NoSet);
  for (std::size_t n = 0; n < cells_.size(); ++n)
    leafOfCell_[index(cells_[n])] = static_cast<std::uint32_t>(n);
  for (int d = 0; d < rules.trees.dimension(); ++d) corners_ *= 2;
  for (int level = 0; level <= rules.trees.depth; ++level)
    widths_.push_back(rules.trees.width(level));
  contacts_ = trees_.contacts(rules.through, smpFor);

  std::vector<double> places;  // indices, which are exact as doubles
  places.reserve(3 * index(points()));
  for (std::int64_t p = 0; p < points(); ++p)
    for (const std::int64_t i : indexOf(p)) places.push_back(static_cast<double>(i));
  first_ = mergeCoincident(Span<const double>(places), smpFor);
}

std::array<std::int64_t, 3> TreePiece::indexOf(std::int64_t point) const {
  const TreeLeaf& leaf = at(point / corners_);
  std::int64_t corner = point % corners_;
  std::array<std::int64_t, 3> place = leaf.at;
  for (std::size_t a = 0; a < 3; ++a) {
    if (rules_.trees.isFlat[a] != 0) continue;
    if (corner % 2 != 0) place[a] += widths_[index(leaf.level)];
    corner /= 2;
  }
  return place;
}

double TreePiece::coordinate(std::size_t axis, std::int64_t place) const {
  if (rules_.trees.isFlat[axis] != 0) return axes_[axis][0];
  // The same bits from both sides of a plane, however many levels there are elsewhere.
  const std::int64_t width = widths_[0];
  const double lo = axes_[axis][index(place / width)];
  if (place % width == 0) return lo;
  const double hi = axes_[axis][index(place / width + 1)];
  return lo + (hi - lo) * (static_cast<double>(place % width) / static_cast<double>(width));
}

std::array<double, 3> TreePiece::place(std::int64_t point) const {
  const std::array<std::int64_t, 3> place = indexOf(point);
  return {coordinate(0, place[0]), coordinate(1, place[1]), coordinate(2, place[2])};
}

TreePiece::Extent TreePiece::extentOfLeaf(std::int64_t leaf) const {
  const std::array<double, 3> one = place(corners_ * leaf);
  const std::array<double, 3> other = place(corners_ * leaf + corners_ - 1);
  Extent extent;
  extent.measure = 1;
  for (std::size_t a = 0; a < 3; ++a) {  // coordinates may decrease
    extent.lo[a] = std::min(one[a], other[a]);
    extent.hi[a] = std::max(one[a], other[a]);
    if (rules_.trees.isFlat[a] == 0) extent.measure *= extent.hi[a] - extent.lo[a];
  }
  return extent;
}

NeighborPiece TreePiece::outline() const {
  NeighborPiece outline;
  outline.level = leaf_.level;
  Box& box = outline.box;
  box.lo.fill(RegionFacts::Infinity);
  box.hi.fill(-RegionFacts::Infinity);
  for (std::int64_t n = 0; n < count(); ++n) {
    if (at(n).isGhost != 0) continue;
    const auto lo = indexOf(corners_ * n), hi = indexOf(corners_ * n + corners_ - 1);
    for (std::size_t a = 0; a < 3; ++a) {
      box.lo[a] = std::min(box.lo[a], static_cast<double>(lo[a]));
      box.hi[a] = std::max(box.hi[a], static_cast<double>(hi[a]));
    }
  }
  return outline;
}

std::vector<std::int64_t> TreePiece::pointsIn(Span<const NeighborPiece> others) const {
  std::vector<std::int64_t> found;
  for (std::int64_t n = 0; n < count() && !others.empty(); ++n) {
    if (at(n).isGhost != 0) continue;
    for (std::int64_t c = 0; c < corners_; ++c) {
      const std::array<std::int64_t, 3> place = indexOf(corners_ * n + c);
      if (!trees_.isOnBorder(place)) continue;
      const double here[3] = {static_cast<double>(place[0]), static_cast<double>(place[1]),
                              static_cast<double>(place[2])};
      if (std::any_of(others.begin(), others.end(),
                      [&](const NeighborPiece& other) { return other.box.contains(here); }))
        found.push_back(pointsOf(n)[index(c)]);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

EntityKey TreePiece::keyOf(std::int64_t point) const {
  const std::array<std::int64_t, 3> at = indexOf(point);
  return keyOfStructured(0, at[0], at[1], at[2], 0);
}

RegionKey TreePiece::keyOfLeaf(std::int64_t leaf) const {
  if (!cellIds_.empty())
    return {static_cast<std::uint64_t>(cellIds_[index(cells_[index(leaf)])]), 0, 0, 0};
  const std::array<std::int64_t, 3>& place = at(leaf).at;  // no two leaves have the same
  return {static_cast<std::uint64_t>(place[0]), static_cast<std::uint64_t>(place[1]),
          static_cast<std::uint64_t>(place[2]), 0};
}

std::unique_ptr<SharedPiece> TreePiece::shareMore(SharedPoints&& shared, Span<const NeighborPiece>,
                                                  bool connect) const {
  std::vector<EntityKey> connectionKeys;
  for (std::size_t n = 0; connect && n < met_.size(); ++n) {
    const LeafContact& contact = met_[n];
    connectionKeys.push_back(
        rules_.withLabels ? withValue(contact.key, values_[index(cells_[index(contact.leaf)])])
                          : contact.key);
  }
  return std::make_unique<SharedTrees>(*this, std::move(shared), std::move(connectionKeys));
}

std::unique_ptr<LabeledPiece> SharedTrees::label(const RangeTest& test,
                                                 Span<const std::uint64_t>) const {
  const TreePiece& p = piece_;
  const std::vector<std::uint64_t> mask = rangeBits(test);
  std::vector<std::uint8_t> inRange(p.cells_.size(), 1);
  for (std::size_t n = 0; test.scalars && n < p.cells_.size(); ++n)
    inRange[n] = mask[index(p.cells_[n] >> 6)] >> (p.cells_[n] & 63) & 1;
  std::vector<TreeLeaves::Pair> edges;
  for (const auto& [one, other] : p.contacts_) {
    if (inRange[one] == 0 || inRange[other] == 0) continue;
    if (p.rules_.withLabels && p.values_[index(p.cells_[one])] != p.values_[index(p.cells_[other])])
      continue;
    edges.emplace_back(one, other);
  }
  UnionFind<std::uint32_t> united(p.cells_.size());
  united.uniteAll(edges, smpFor);
  std::size_t all = 0;
  std::vector<std::uint32_t> setOf = std::move(united).number(all);
  // Leaves out of range are sets of their own so far: they are taken out, and the rest numbered.
  std::vector<std::uint32_t> renumbered(all, NoSet);
  std::uint32_t sets = 0;
  for (std::size_t n = 0; n < setOf.size(); ++n) {
    std::uint32_t& set = renumbered[setOf[n]];
    if (set == NoSet && inRange[n] != 0) set = sets++;
    setOf[n] = set;
  }
  return std::make_unique<LabeledTrees>(p, *this, std::move(setOf), sets);
}

std::vector<std::uint32_t> LabeledTrees::setsOfConnections() const {
  std::vector<std::uint32_t> sets;
  sets.reserve(trees_.met_.size());
  for (const LeafContact& contact : trees_.met_) sets.push_back(setOf_[index(contact.leaf)]);
  return sets;
}

std::vector<SetAtPoint> LabeledTrees::setsAtShared() const {
  if (points_.empty()) return {};
  return setsAtPoints(
      trees_.count(), [&](std::int64_t n) { return ownSet(n); },
      [&](std::int64_t n) { return trees_.pointsOf(n); },
      [&](std::int64_t p) { return points_.find(p); });
}

Extremes LabeledTrees::extremes(const std::vector<MeasuredValues>& arrays) const {
  Extremes extremes;
  extremes.values.resize(arrays.size(), 0);
  for (std::int64_t n = 0; n < trees_.count(); ++n) {
    if (ownSet(n) == NoSet) continue;
    const TreePiece::Extent extent = trees_.extentOfLeaf(n);
    if (std::isfinite(extent.measure))
      extremes.measure = std::max(extremes.measure, extent.measure);
    for (const auto& corner : {extent.lo, extent.hi})
      for (const double x : corner)
        if (std::isfinite(x)) extremes.coordinate = std::max(extremes.coordinate, std::abs(x));
    for (std::size_t v = 0; v < arrays.size(); ++v)
      considerValues(arrays[v], trees_.cells_[index(n)], {}, extremes.values[v]);
  }
  return extremes;
}

BlockFacts LabeledTrees::facts(const FactScales& scales,
                               const std::vector<MeasuredValues>& arrays) const {
  BlockFacts facts;
  facts.sets.resize(sets_);
  facts.values.resize(sets_ * arrays.size());
  for (std::int64_t n = 0; n < trees_.count(); ++n) {
    if (ownSet(n) == NoSet) continue;
    RegionFacts& set = facts.sets[ownSet(n)];
    ++set.cells;
    const TreePiece::Extent extent = trees_.extentOfLeaf(n);
    const double weight = scales.hasMeasure ? extent.measure : 1;
    set.measure += scales.measure.fixed(extent.measure);
    for (std::size_t a = 0; a < 3; ++a) {
      set.moment[a] += scales.moment.fixed(weight * (0.5 * (extent.lo[a] + extent.hi[a])));
      set.lo[a] = std::min(set.lo[a], extent.lo[a]);
      set.hi[a] = std::max(set.hi[a], extent.hi[a]);
    }
    set.key = std::min(set.key, trees_.keyOfLeaf(n));
    for (std::size_t v = 0; v < arrays.size(); ++v)
      addValues(arrays[v], trees_.cells_[index(n)], 0, nullptr, weight, scales.integrals[v],
                facts.values[ownSet(n) * arrays.size() + v]);
  }
  return facts;
}

void LabeledTrees::write(RegionOutput& output) const {
  if (output.cells) {
    std::fill_n(output.cells, trees_.cells(), vtkIdType(-1));
    for (std::size_t n = 0; n < setOf_.size(); ++n)
      if (setOf_[n] != NoSet) output.cells[trees_.cells_[n]] = output.shownOf[setOf_[n]];
  }
  output.pointsOfSet.assign(sets_, 0);
  visitRegionsAtPoints(
      trees_.points(), trees_.count(), [&](std::int64_t n) { return ownSet(n); },
      [&](std::int64_t n) { return trees_.pointsOf(n); }, output.numberOf,
      [&](std::int64_t point, std::uint32_t set) {
        if (!points_.contains(point)) ++output.pointsOfSet[set];
      });
}

NearestPoints LabeledTrees::nearest(const std::array<double, 3>& where) const {
  NearestPoints nearest;
  for (std::int64_t n = 0; n < trees_.count(); ++n) {
    if (ownSet(n) == NoSet) continue;
    for (std::int64_t c = 0; c < trees_.corners_; ++c)
      nearest.add(where, trees_.place(trees_.corners_ * n + c), ownSet(n), {});
  }
  return nearest;
}

}  // namespace

Pieces makeTreePieces(Transport& transport, const Assignment& assignment,
                      std::vector<PieceSource>&& sources, const DomainRules& rules) {
  std::vector<GridLeaves> leaves;
  std::vector<const TreeLeaves*> trees;
  collectively(transport, [&] {
    leaves.reserve(sources.size());
    for (const PieceSource& source : sources) leaves.emplace_back(source.leaf, rules);
    for (const GridLeaves& grid : leaves) trees.push_back(&grid.trees);
  });
  auto contacts = matchLeaves(transport, assignment, trees, rules.through);
  Pieces pieces;
  collectively(transport, [&] {
    for (std::size_t n = 0; n < sources.size(); ++n)
      pieces.push_back(std::make_unique<TreePiece>(std::move(sources[n]), rules,
                                                   std::move(leaves[n]), std::move(contacts[n])));
  });
  return pieces;
}

}  // namespace tributary
