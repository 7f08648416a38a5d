// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include "Common/SmpFor.h"
#include "Regions/Pieces/LatticePiece.h"

#include "Tributary/Base/Span.h"

namespace tributary {

template <class Visit>
void LabeledLattice::cellRowsAt(std::int64_t j, std::int64_t k, Visit&& visit) const {
  // The cells beside a point along an axis, which on a closed axis may be the last and the first.
  const auto beside = [&](std::size_t a, std::int64_t at) {
    std::array<std::int64_t, 2> cells = {at - 1, at};
    const std::int64_t last = lattice_.cells_[a] - 1;
    if (lattice_.isClosed(a) && (cells[0] < 0 || cells[1] > last)) cells = {last, 0};
    if (cells[0] < 0) cells[0] = cells[1];
    if (cells[1] > last) cells[1] = cells[0];
    return cells;
  };
  const auto slices = beside(2, k), rows = beside(1, j);
  for (std::size_t s = 0; s < (slices[0] == slices[1] ? 1u : 2u); ++s)
    for (std::size_t r = 0; r < (rows[0] == rows[1] ? 1u : 2u); ++r)
      visit(slices[s] * lattice_.cells_[1] + rows[r]);
}

/// @param sets  Out: sets[n][i] is a set of the n-th different region at point i of the row.
/// @return the number of regions of the point that has the most
std::size_t LabeledLattice::setsOfRow(std::int64_t j, std::int64_t k, const RegionOutput& output,
                                      SetsOfRow& sets) const {
  const auto same = [&](std::uint32_t a, std::uint32_t b) {
    return a == b || output.numberOf[a] == output.numberOf[b];
  };
  const std::size_t length = index(lattice_.points_[0]);
  std::size_t depth = 0;
  const std::int64_t reach = lattice_.isFlat(0) ? 0 : 1;
  const auto add = [&](std::size_t i, std::uint32_t set) {
    std::size_t n = 0;
    while (n < depth && sets[n][i] != NoSet && !same(sets[n][i], set)) ++n;
    if (n == depth) {
      if (sets.size() == depth) sets.emplace_back();
      sets[depth++].assign(length, NoSet);
    }
    if (sets[n][i] == NoSet) sets[n][i] = set;
  };
  const bool single = lattice_.rules_.through == Through::Points && !lattice_.rules_.withLabels;
  cellRowsAt(j, k, [&](std::int64_t row) {
    labels_.visitRuns(row, [&](const Run& run) {
      const std::size_t end = index(run.end + reach);
      if (depth == 0) sets[depth++].assign(length, NoSet);
      if (single) {  // whatever set is here is the only one
        std::fill(sets[0].begin() + run.begin, sets[0].begin() + run.end + reach, run.set);
        return;
      }
      for (std::size_t i = index(run.begin); i < end; ++i) add(i, run.set);
    });
  });
  if (depth > 0 && lattice_.isClosed(0)) {  // the last point is the first one
    const std::size_t last = length - 1;
    for (std::size_t n = 0; n < depth; ++n) {
      if (sets[n][last] != NoSet) add(0, sets[n][last]);
    }
    for (std::size_t n = 0; n < depth; ++n) sets[n][last] = sets[n][0];
  }
  return depth;
}

void LabeledLattice::writeRow(std::int64_t j, std::int64_t k, RegionOutput& output,
                              bool isConcurrent, SetsOfRow& sets) const {
  const std::size_t length = index(lattice_.points_[0]);
  const std::size_t depth = setsOfRow(j, k, output, sets);
  const std::int64_t first = lattice_.pointAt(0, j, k);
  vtkIdType* const points = output.points ? output.points + first : nullptr;
  // Of a point and its images the first one counts.
  const bool isImage = (lattice_.isClosed(1) && j == lattice_.cells_[1]) ||
                       (lattice_.isClosed(2) && k == lattice_.cells_[2]);
  const auto counted = static_cast<std::int64_t>(isImage                ? 0
                                                 : lattice_.isClosed(0) ? length - 1
                                                                        : length);
  if (depth == 0 && points) std::fill_n(points, length, -1);
  for (std::size_t n = 0; n < depth; ++n) {
    for (std::size_t begin = 0, end = 0; begin < length; begin = end) {
      const std::uint32_t set = sets[n][begin];
      end = endOfRun(Span<const std::uint32_t>(sets[n]), begin);
      const vtkIdType shown = set == NoSet ? -1 : output.shownOf[set];
      if (points && n == 0) std::fill(points + begin, points + end, shown);
      for (std::size_t i = begin; points && n > 0 && shown >= 0 && i < end; ++i)
        if (points[i] < 0 || shown < points[i]) points[i] = shown;
      if (set == NoSet) continue;
      const auto from = static_cast<std::int64_t>(begin);
      const auto to = std::min(static_cast<std::int64_t>(end), counted);
      if (to <= from) continue;
      const std::int64_t own =
          to - from - (points_.countBefore(first + to) - points_.countBefore(first + from));
      if (isConcurrent)
        __atomic_fetch_add(&output.pointsOfSet[set], own, __ATOMIC_RELAXED);
      else
        output.pointsOfSet[set] += own;
    }
  }
}

void LabeledLattice::write(RegionOutput& output) const {
  if (output.cells)
    writeLabels<std::int64_t>(labels_, output.shownOf, -1,
                              reinterpret_cast<std::int64_t*>(output.cells), smpFor);
  output.pointsOfSet.assign(labels_.sets(), 0);
  const std::int64_t rows = lattice_.points_[1] * lattice_.points_[2];
  smpFor(rows, [&](std::int64_t begin, std::int64_t end) {
    SetsOfRow sets(1);
    const bool isConcurrent = end - begin < rows;
    for (std::int64_t row = begin; row < end; ++row)
      writeRow(row % lattice_.points_[1], row / lattice_.points_[1], output, isConcurrent, sets);
  });
}

}  // namespace tributary
