// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "Grids/GridCells.h"
#include "Periodic/PeriodicAxes.h"

#include "Tributary/Base/Index.h"
#include "Tributary/Relaxation/SiteLattice.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// The points or the cells of the grid of all ranks as a lattice. A point is owned by the rank that
/// has the cell above it along each axis. A point on an upper side of the grid is owned by the rank
/// that has the last cell. Other ranks with the point receive its value from the owner.
struct GridSites {
  /// A piece that defines the values of a range of sites. Later sources take precedence.
  struct Source {
    std::size_t piece;
    CellRange range;
  };

  bool areCells = false;
  SiteLattice lattice;            ///< of all ranks
  CellRange box;                  ///< the sites that this rank owns
  std::vector<CellRange> pieces;  ///< the sites of this rank's pieces, including ghosts
  std::vector<Source> sources;    ///< cover `box`; exclude ghosts
  /// By axis, the number of sites after which pieces have images of the first ones; 0 if they have
  /// none.
  std::array<std::int64_t, 3> around{};

  /// The number of sites of the box.
  std::size_t count() const { return index(box.cells()); }
};

/// Returns the cells or the points of a grid as sites. Of a point on both sides of a periodic axis
/// that on the lower one is the site. Local.
[[nodiscard]] GridSites gridSitesOf(const GridCells& cells, const PeriodicAxes& periodic,
                                    bool areCells);

/// Calls visit(position in `one`, position in `other`) for the sites of a range that are in both
/// boxes, x fastest.
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
      for (std::int64_t i = 0; i < both.along(0); ++i) visit(index(inOne + i), index(inOther + i));
    }
}

/// Collective. Returns the values of all sites of each piece, received from the ranks that own the
/// sites.
/// @param own  values of this rank's sites, x fastest
/// @throws Error on all ranks
template <class T>
[[nodiscard]] std::vector<std::vector<T>> valuesAtPieces(Transport& transport,
                                                         const GridSites& sites,
                                                         const std::vector<T>& own);

extern template std::vector<std::vector<double>> valuesAtPieces(Transport&, const GridSites&,
                                                                const std::vector<double>&);
extern template std::vector<std::vector<std::uint8_t>> valuesAtPieces(
    Transport&, const GridSites&, const std::vector<std::uint8_t>&);

}  // namespace tributary
