// SPDX-License-Identifier: BSD-3-Clause
#include <vtkCellType.h>
#include <vtkDataSetAttributes.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "Common/SmpFor.h"
#include "Regions/Pieces/LatticePiece.h"

namespace tributary {

template <class Visit>
void LabeledLattice::ownCells(const Run& run, std::int64_t row, Visit&& visit) const {
  if (!lattice_.hasGhosts_) {
    visit(run.begin, run.end);
    return;
  }
  const std::uint8_t* flags = lattice_.flags_.data() + row * lattice_.cells_[0];
  for (std::int64_t i = run.begin; i < run.end;) {
    const bool ghost = (flags[i] & vtkDataSetAttributes::DUPLICATECELL) != 0;
    std::int64_t end = i + 1;
    while (end < run.end && ((flags[end] & vtkDataSetAttributes::DUPLICATECELL) != 0) == ghost)
      ++end;
    if (!ghost) visit(i, end);
    i = end;
  }
}

void LabeledLattice::measureCells() {
  sizes_ = CellSizes(lattice_.cells());
  smpFor(lattice_.cells_[1] * lattice_.cells_[2], [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row)
      labels_.visitRuns(row, [&](const Run& run) {
        for (std::int64_t i = run.begin; i < run.end; ++i) {
          const std::int64_t cell = row * lattice_.cells_[0] + i;
          sizes_.set(cell, lattice_.measure(cell));
        }
      });
  });
}

void LabeledLattice::visitOwnCells(const VisitCells& visit) const {
  visitRuns([&](const Run& run, std::int64_t row) {
    const std::int64_t first = row * lattice_.cells_[0];
    ownCells(run, row, [&](std::int64_t begin, std::int64_t end) {
      visit(first + begin, first + end, run.set);
    });
  });
}

Extremes LabeledLattice::extremes(const std::vector<MeasuredValues>& arrays) const {
  Extremes extremes;
  double bounds[6];
  lattice_.dataSet()->GetBounds(bounds);
  for (const double bound : bounds)
    if (std::isfinite(bound)) extremes.coordinate = std::max(extremes.coordinate, std::abs(bound));
  extremes.values.resize(arrays.size(), 0);
  if (lattice_.isUniform()) extremes.measure = sizeOf(0).measure;
  if (lattice_.isUniform() && arrays.empty()) return extremes;
  std::int64_t ids[8];
  visitRuns([&](const Run& run, std::int64_t row) {
    ownCells(run, row, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t cell = row * lattice_.cells_[0] + i;
        const double measure = sizeOf(cell).measure;
        if (std::isfinite(measure)) extremes.measure = std::max(extremes.measure, measure);
        const Span<const std::int64_t> corners(ids, index(lattice_.cornersOf(cell, ids)));
        for (std::size_t v = 0; v < arrays.size(); ++v)
          considerValues(arrays[v], cell, corners, extremes.values[v]);
      }
    });
  });
  return extremes;
}

RegionKey LabeledLattice::structuredKeyOf(std::int64_t i, std::int64_t j, std::int64_t k) const {
  const std::array<int, 6>& whole = lattice_.rules_.whole;
  std::uint64_t number = 0;
  const std::array<std::int64_t, 3> local = {i, j, k};
  for (std::size_t a = 3; a-- > 0;) {
    const std::int64_t size = std::int64_t(whole[2 * a + 1]) - whole[2 * a] + 1;
    number = number * static_cast<std::uint64_t>(size) +
             static_cast<std::uint64_t>(local[a] + lattice_.extent_[2 * a] - whole[2 * a]);
  }
  std::uint64_t flat = 0;  // cells of other planes may begin at the same point
  for (std::size_t a = 0; a < 3; ++a) flat |= std::uint64_t(lattice_.isFlat(a) ? 1 : 0) << a;
  return {number, flat, 0, 0};
}

RegionKey LabeledLattice::keyOf(std::int64_t i, std::int64_t row, const RegionKey& known) const {
  const DomainRules& rules = lattice_.rules_;
  const std::int64_t cell = row * lattice_.cells_[0] + i;
  if (rules.cells == DomainRules::Cells::Ids)
    return {static_cast<std::uint64_t>(lattice_.cellIds_[index(cell)]), 0, 0, 0};
  if (rules.cells == DomainRules::Cells::Structured)
    return structuredKeyOf(i, row % lattice_.cells_[1], row / lattice_.cells_[1]);
  std::int64_t ids[8];
  const int count = lattice_.cornersOf(cell, ids);
  std::array<double, 3> least = lattice_.place(ids[0]);
  std::array<EntityKey, 8> corners;
  for (int c = 1; c < count; ++c) least = std::min(least, lattice_.place(ids[c]));
  if (placeKey(least, {0, 0}) > known) return known;
  for (int c = 0; c < count; ++c) corners[index(c)] = keyOfPoint(lattice_.place(ids[c]).data());
  constexpr int Types[] = {VTK_VERTEX, VTK_LINE, VTK_QUAD, 0, VTK_HEXAHEDRON};
  EntityKey all = withValue(keyOfEntity({corners.data(), index(count)}), Types[count / 2]);
  if (rules.withLabels) all = withValue(all, lattice_.values_[index(cell)]);
  return placeKey(least, all);
}

/// Of a uniform lattice: what cells add to the moment by column, row and layer, and the sums of
/// the columns before each, so that a run adds exactly what its cells would.
struct LabeledLattice::Moments {
  std::array<std::vector<FixedSum>, 3> ofCells;
  std::vector<FixedSum> columns = std::vector<FixedSum>(1, 0);
  FixedSum measure = 0;  ///< Of a cell.

  void add(std::int64_t begin, std::int64_t end, std::int64_t j, std::int64_t k,
           RegionFacts& set) const {
    const std::int64_t count = end - begin;
    set.measure += measure * count;
    set.moment[0] += columns[index(end)] - columns[index(begin)];
    set.moment[1] += ofCells[1][index(j)] * count;
    set.moment[2] += ofCells[2][index(k)] * count;
  }
};

LabeledLattice::Moments LabeledLattice::momentsOf(const FactScales& scales) const {
  Moments moments;
  const double one = sizeOf(0).measure;
  moments.measure = scales.measure.fixed(one);
  const double weight = scales.hasMeasure ? one : 1;
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::int64_t i = 0; i < lattice_.cells_[a]; ++i)
      moments.ofCells[a].push_back(scales.moment.fixed(weight * lattice_.straight_->middle(a, i)));
  }
  for (const FixedSum moment : moments.ofCells[0])
    moments.columns.push_back(moments.columns.back() + moment);
  return moments;
}

/// Cells [begin, end) of a row of one set.
struct LabeledLattice::Stretch {
  std::int64_t begin, end, row, j, k;
};

void LabeledLattice::addBounds(const Stretch& stretch, RegionFacts& set) const {
  const std::array<std::int64_t, 3> from = {stretch.begin, stretch.j, stretch.k};
  const std::array<std::int64_t, 3> to = {stretch.end, stretch.j + 1, stretch.k + 1};
  for (std::size_t a = 0; a < 3; ++a) {
    const std::vector<double>& axis = lattice_.straight_->axes[a];
    set.lo[a] = std::min(set.lo[a], axis[index(from[a])]);
    set.hi[a] = std::max(set.hi[a], axis[index(lattice_.isFlat(a) ? from[a] : to[a])]);
  }
}

void LabeledLattice::addCells(const Stretch& stretch, const FactScales& scales,
                              const std::vector<MeasuredValues>& arrays, RegionFacts& set,
                              ValueFacts* values) const {
  std::int64_t ids[8];
  for (std::int64_t i = stretch.begin; i < stretch.end; ++i) {
    const std::int64_t cell = stretch.row * lattice_.cells_[0] + i;
    const CellSize size = sizeOf(cell);
    const double weight = scales.hasMeasure ? size.measure : 1;
    const int corners = lattice_.cornersOf(cell, ids);
    if (!lattice_.isUniform()) {
      set.measure += scales.measure.fixed(size.measure);
      for (std::size_t a = 0; a < 3; ++a)
        set.moment[a] += scales.moment.fixed(weight * size.centroid[a]);
    }
    if (!lattice_.straight_) {
      for (int c = 0; c < corners; ++c) {
        const std::array<double, 3> here = lattice_.coordinates_[ids[c]];
        for (std::size_t a = 0; a < 3; ++a) {
          set.lo[a] = std::min(set.lo[a], here[a]);
          set.hi[a] = std::max(set.hi[a], here[a]);
        }
      }
    }
    for (std::size_t v = 0; v < arrays.size(); ++v)
      addValues(arrays[v], cell, corners, ids, weight, scales.integrals[v], values[v]);
  }
}

BlockFacts LabeledLattice::facts(const FactScales& scales,
                                 const std::vector<MeasuredValues>& arrays) const {
  BlockFacts facts;
  facts.sets.resize(labels_.sets());
  facts.values.resize(labels_.sets() * arrays.size());
  Moments moments;
  if (lattice_.isUniform()) moments = momentsOf(scales);
  const DomainRules::Cells order = lattice_.rules_.cells;
  // Whether the first cell of a row has the least key of the row.
  const bool ordered = order == DomainRules::Cells::Structured ||
                       (order == DomainRules::Cells::Places && lattice_.straight_);
  visitRuns([&](const Run& run, std::int64_t row) {
    const std::int64_t j = row % lattice_.cells_[1], k = row / lattice_.cells_[1];
    RegionFacts& set = facts.sets[run.set];
    ownCells(run, row, [&](std::int64_t begin, std::int64_t end) {
      const Stretch stretch{begin, end, row, j, k};
      set.cells += end - begin;
      if (lattice_.straight_) addBounds(stretch, set);
      if (lattice_.isUniform()) moments.add(begin, end, j, k, set);
      for (std::int64_t i = begin; i < (ordered ? begin + 1 : end); ++i)
        set.key = std::min(set.key, keyOf(i, row, set.key));
      if (lattice_.isUniform() && arrays.empty()) return;
      addCells(stretch, scales, arrays, set, facts.values.data() + run.set * arrays.size());
    });
  });
  return facts;
}

}  // namespace tributary
