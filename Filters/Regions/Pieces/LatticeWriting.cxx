// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include "Common/SmpFor.h"
#include "Regions/Pieces/LatticePiece.h"

#include "Tributary/Base/Span.h"

namespace tributary {

template <class Visit>
void LabeledLattice::cellRowsAt(std::int64_t j, std::int64_t k, Visit&& visit) const {
  for (std::int64_t ck = std::max<std::int64_t>(k - 1, 0); ck < std::min(k + 1, lattice_.cells_[2]);
       ++ck)
    for (std::int64_t cj = std::max<std::int64_t>(j - 1, 0);
         cj < std::min(j + 1, lattice_.cells_[1]); ++cj)
      visit(ck * lattice_.cells_[1] + cj);
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
  const bool single = lattice_.rules_.through == Through::Points && !lattice_.rules_.withLabels;
  cellRowsAt(j, k, [&](std::int64_t row) {
    labels_.visitRuns(row, [&](const Run& run) {
      const std::size_t end = index(run.end + reach);
      if (depth == 0) sets[depth++].assign(length, NoSet);
      if (single) {  // whatever set is here is the only one
        std::fill(sets[0].begin() + run.begin, sets[0].begin() + run.end + reach, run.set);
        return;
      }
      for (std::size_t i = index(run.begin); i < end; ++i) {
        std::size_t n = 0;
        while (n < depth && sets[n][i] != NoSet && !same(sets[n][i], run.set)) ++n;
        if (n == depth) {
          if (sets.size() == depth) sets.emplace_back();
          sets[depth++].assign(length, NoSet);
        }
        if (sets[n][i] == NoSet) sets[n][i] = run.set;
      }
    });
  });
  return depth;
}

void LabeledLattice::writeRow(std::int64_t j, std::int64_t k, RegionOutput& output,
                              bool isConcurrent, SetsOfRow& sets) const {
  const std::size_t length = index(lattice_.points_[0]);
  const std::size_t depth = setsOfRow(j, k, output, sets);
  const std::int64_t first = lattice_.pointAt(0, j, k);
  vtkIdType* const points = output.points ? output.points + first : nullptr;
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
      const auto from = static_cast<std::int64_t>(begin), to = static_cast<std::int64_t>(end);
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
