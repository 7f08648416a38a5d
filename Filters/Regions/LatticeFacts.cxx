// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/LatticePiece.h"

#include <vtkCellType.h>
#include <vtkDataSetAttributes.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "Common/SmpFor.h"

namespace tributary {

Extremes LatticePiece::extremes(const std::vector<MeasuredValues>& arrays) const {
  Extremes extremes;
  double bounds[6];
  leaf_.dataSet->GetBounds(bounds);
  for (const double bound : bounds)
    if (std::isfinite(bound)) extremes.coordinate = std::max(extremes.coordinate, std::abs(bound));
  extremes.values.resize(arrays.size(), 0);
  if (uniform_) extremes.measure = sizeOf(0).measure;
  if (uniform_ && arrays.empty()) return extremes;
  std::int64_t ids[8];
  for (std::int64_t row = 0; row < cells_[1] * cells_[2]; ++row) {
    for (std::int64_t r = labels_.rowBegin[index(row)]; r < labels_.rowBegin[index(row + 1)]; ++r) {
      ownCells(labels_.runs[index(r)], row, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t cell = row * cells_[0] + i;
          const double measure = sizeOf(cell).measure;
          if (std::isfinite(measure)) extremes.measure = std::max(extremes.measure, measure);
          const Span<const std::int64_t> corners(ids, index(cornersOf(cell, ids)));
          for (std::size_t v = 0; v < arrays.size(); ++v)
            considerValues(arrays[v], cell, corners, extremes.values[v]);
        }
      });
    }
  }
  return extremes;
}

RegionKey LatticePiece::keyOf(std::int64_t i, std::int64_t row, const RegionKey& known) const {
  const std::int64_t j = row % cells_[1], k = row / cells_[1];
  const std::int64_t cell = row * cells_[0] + i;
  if (rules_.cells == DomainRules::Cells::Ids)
    return {static_cast<std::uint64_t>(cellIds_[index(cell)]), 0, 0, 0};
  if (rules_.cells == DomainRules::Cells::Structured) {
    std::uint64_t number = 0;
    const std::array<std::int64_t, 3> local = {i, j, k};
    for (std::size_t a = 3; a-- > 0;) {
      const std::int64_t size = std::int64_t(rules_.whole[2 * a + 1]) - rules_.whole[2 * a] + 1;
      number = number * static_cast<std::uint64_t>(size) +
               static_cast<std::uint64_t>(local[a] + extent_[2 * a] - rules_.whole[2 * a]);
    }
    std::uint64_t flat = 0;  // cells of other planes may begin at the same point
    for (std::size_t a = 0; a < 3; ++a) flat |= std::uint64_t(isFlat(a) ? 1 : 0) << a;
    return {number, flat, 0, 0};
  }
  std::int64_t ids[8];
  const int count = cornersOf(cell, ids);
  std::array<double, 3> least = place(ids[0]);
  std::array<EntityKey, 8> corners;
  for (int c = 1; c < count; ++c) least = std::min(least, place(ids[c]));
  if (placeKey(least, {0, 0}) > known) return known;
  for (int c = 0; c < count; ++c)
    corners[static_cast<std::size_t>(c)] = keyOfPoint(place(ids[c]).data());
  constexpr int types[] = {VTK_VERTEX, VTK_LINE, VTK_QUAD, 0, VTK_HEXAHEDRON};
  EntityKey all =
      withValue(keyOfEntity({corners.data(), static_cast<std::size_t>(count)}), types[count / 2]);
  if (rules_.withLabels) all = withValue(all, values_[index(cell)]);
  return placeKey(least, all);
}

template <class Visit>
void LatticePiece::ownCells(const Run& run, std::int64_t row, Visit&& visit) const {
  if (!hasGhosts_) {
    visit(run.begin, run.end);
    return;
  }
  const std::uint8_t* flags = flags_.data() + row * cells_[0];
  for (std::int64_t i = run.begin; i < run.end;) {
    const bool ghost = (flags[i] & vtkDataSetAttributes::DUPLICATECELL) != 0;
    std::int64_t end = i + 1;
    while (end < run.end && ((flags[end] & vtkDataSetAttributes::DUPLICATECELL) != 0) == ghost)
      ++end;
    if (!ghost) visit(i, end);
    i = end;
  }
}

BlockFacts LatticePiece::facts(const FactScales& scales,
                               const std::vector<MeasuredValues>& arrays) const {
  BlockFacts facts;
  facts.sets.resize(labels_.sets);
  facts.values.resize(labels_.sets * arrays.size());
  const std::int64_t rows = cells_[1] * cells_[2];
  const double one = sizeOf(0).measure;
  const FixedSum fixedOne = scales.measure.fixed(one);
  const double weightOne = scales.hasMeasure ? one : 1;
  // Of a uniform lattice: what cells add to the moment by column, row and layer, and the columns'
  // sums, so that a run adds exactly what its cells would.
  std::array<std::vector<FixedSum>, 3> moments;
  std::vector<FixedSum> columns(1, 0);
  if (uniform_) {
    for (std::size_t a = 0; a < 3; ++a) {
      for (std::int64_t i = 0; i < cells_[a]; ++i) {
        const double lo = axes_[a][index(i)];
        const double middle = isFlat(a) ? lo : 0.5 * (lo + axes_[a][index(i + 1)]);
        moments[a].push_back(scales.moment.fixed(weightOne * middle));
      }
    }
    for (const FixedSum moment : moments[0]) columns.push_back(columns.back() + moment);
  }

  std::int64_t ids[8];
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t j = row % cells_[1], k = row / cells_[1];
    for (std::int64_t r = labels_.rowBegin[index(row)]; r < labels_.rowBegin[index(row + 1)]; ++r) {
      const Run& run = labels_.runs[index(r)];
      RegionFacts& set = facts.sets[run.set];
      ownCells(run, row, [&](std::int64_t begin, std::int64_t end) {
        const std::int64_t count = end - begin;
        set.cells += count;
        if (straight_) {
          const std::array<std::int64_t, 3> from = {begin, j, k};
          const std::array<std::int64_t, 3> to = {end, j + 1, k + 1};
          for (std::size_t a = 0; a < 3; ++a) {
            set.lo[a] = std::min(set.lo[a], axes_[a][index(from[a])]);
            set.hi[a] = std::max(set.hi[a], axes_[a][index(isFlat(a) ? from[a] : to[a])]);
          }
        }
        if (uniform_) {
          set.measure += fixedOne * count;
          set.moment[0] += columns[index(end)] - columns[index(begin)];
          set.moment[1] += moments[1][index(j)] * count;
          set.moment[2] += moments[2][index(k)] * count;
        }
        const bool ordered = rules_.cells == DomainRules::Cells::Structured ||
                             (rules_.cells == DomainRules::Cells::Places && straight_);
        for (std::int64_t i = begin; i < (ordered ? begin + 1 : end); ++i)
          set.key = std::min(set.key, keyOf(i, row, set.key));
        if (uniform_ && arrays.empty()) return;
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t cell = row * cells_[0] + i;
          const CellSize size = sizeOf(cell);
          const double weight = scales.hasMeasure ? size.measure : 1;
          const int corners = cornersOf(cell, ids);
          if (!uniform_) {
            if (std::isfinite(size.measure)) set.measure += scales.measure.fixed(size.measure);
            for (std::size_t a = 0; a < 3; ++a) {
              const double moment = weight * size.centroid[a];
              if (std::isfinite(moment)) set.moment[a] += scales.moment.fixed(moment);
            }
          }
          if (!straight_) {
            for (int c = 0; c < corners; ++c) {
              const std::array<double, 3> here = coordinates_[ids[c]];
              for (std::size_t a = 0; a < 3; ++a) {
                set.lo[a] = std::min(set.lo[a], here[a]);
                set.hi[a] = std::max(set.hi[a], here[a]);
              }
            }
          }
          for (std::size_t v = 0; v < arrays.size(); ++v) {
            ValueFacts& values = facts.values[run.set * arrays.size() + v];
            addValues(arrays[v], cell, corners, ids, weight, scales.integrals[v], values);
          }
        }
      });
    }
  }
  return facts;
}

}  // namespace tributary
