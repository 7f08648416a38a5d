// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "Grids/GridCells.h"

#include "Tributary/Base/Span.h"
#include "Tributary/Relaxation/SiteLattice.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// The points or the cells of the grid of all ranks, as places that have a value each. A point
/// belongs to the rank that has the cell above it along each axis, those of the grid's upper sides
/// to the one with the last cell; others that have it, too, get its value from there.
struct GridSites {
  /// Sites whose values are those that a piece has. A later source counts more.
  struct Source {
    std::size_t piece;
    CellRange range;
  };

  bool areCells = false;
  SiteLattice lattice;
  CellRange box;                  ///< Those of this rank.
  std::vector<CellRange> pieces;  ///< What its data sets have, ghosts too.
  std::vector<Source> sources;    ///< For all of `box`; never a ghost cell, or its far points.

  std::size_t count() const { return static_cast<std::size_t>(box.cells()); }
};

GridSites gridSitesOf(const GridCells& cells, bool areCells);

/// Visits the sites of a range that are in two boxes with their places in each, x fastest.
template <class Visit>
void forEachSite(const CellRange& range, const CellRange& one, const CellRange& other,
                 Visit&& visit) {
  const CellRange both = overlapOf(range, overlapOf(one, other));
  if (both.empty()) return;
  const auto place = [&](const CellRange& box, std::int64_t j, std::int64_t k) {
    return ((k - box.lo[2]) * box.along(1) + j - box.lo[1]) * box.along(0) + both.lo[0] - box.lo[0];
  };
  for (auto k = both.lo[2]; k < both.hi[2]; ++k)
    for (auto j = both.lo[1]; j < both.hi[1]; ++j) {
      const auto inOne = place(one, j, k), inOther = place(other, j, k);
      for (std::int64_t i = 0; i < both.along(0); ++i)
        visit(static_cast<std::size_t>(inOne + i), static_cast<std::size_t>(inOther + i));
    }
}

/// Collective. Values of all sites of each piece, from the ranks that they belong to.
/// @param own  of this rank's sites, x fastest
template <class T>
std::vector<std::vector<T>> valuesAtPieces(Transport& transport, const GridSites& sites,
                                           const std::vector<T>& own);

extern template std::vector<std::vector<double>> valuesAtPieces(Transport&, const GridSites&,
                                                                const std::vector<double>&);
extern template std::vector<std::vector<std::uint8_t>> valuesAtPieces(
    Transport&, const GridSites&, const std::vector<std::uint8_t>&);

}  // namespace tributary
