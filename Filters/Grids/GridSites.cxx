// SPDX-License-Identifier: BSD-3-Clause
#include "Grids/GridSites.h"

#include <algorithm>

#include "Tributary/Base/Index.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Records.h"

namespace tributary {
namespace {

/// The points of a box of cells.
/// @param withUpper  whether to include the points of the upper sides where the grid continues
CellRange pointsOf(const GridCells& cells, CellRange box, bool withUpper) {
  if (box.empty()) return {};
  for (std::size_t a = 0; a < 3; ++a)
    if (!cells.isFlat[a] && (withUpper || box.hi[a] == cells.grid.along(a))) ++box.hi[a];
  return box;
}

/// Calls visit(box of images) for a box of sites and its images in the pieces.
template <class Visit>
void forEachImage(const GridSites& sites, const CellRange& box, Visit&& visit) {
  for (unsigned axes = 0; axes < 8; ++axes) {
    CellRange image = box;
    bool exists = true;
    for (std::size_t a = 0; a < 3; ++a) {
      if ((axes >> a & 1) == 0) continue;
      exists = exists && sites.around[a] > 0;
      image.lo[a] += sites.around[a];
      image.hi[a] += sites.around[a];
    }
    if (exists) visit(image);
  }
}

}  // namespace

GridSites gridSitesOf(const GridCells& cells, const PeriodicAxes& periodic, bool areCells) {
  GridSites sites;
  sites.areCells = areCells;
  if (areCells) {
    sites.lattice = cellSites(
        cells.grid, {periodic[0].isPeriodic, periodic[1].isPeriodic, periodic[2].isPeriodic});
    sites.box = cells.box;
    for (const GridPiece& piece : cells.pieces) {
      sites.sources.push_back({sites.pieces.size(), piece.own});
      sites.pieces.push_back(piece.all);
    }
    return sites;
  }
  auto coordinates = cells.grid.ends;
  for (std::size_t a = 0; a < 3; ++a)
    if (cells.isFlat[a]) coordinates[a].resize(1);
  sites.box = pointsOf(cells, cells.box, false);
  std::array<double, 3> seam{};
  for (std::size_t a = 0; a < 3; ++a) {
    if (!periodic[a].isPeriodic) continue;
    std::vector<double>& x = coordinates[a];
    seam[a] = periodic[a].gap;
    if (periodic[a].hasGap()) continue;
    // The last points are the first ones.
    seam[a] = x.back() - x[x.size() - 2];
    x.pop_back();
    sites.around[a] = static_cast<std::int64_t>(x.size());
    sites.box.hi[a] = std::min(sites.box.hi[a], sites.around[a]);
  }
  sites.lattice = pointSites(coordinates, seam);
  for (const GridPiece& piece : cells.pieces) {
    sites.sources.push_back({sites.pieces.size(), pointsOf(cells, piece.own, true)});
    sites.pieces.push_back(pointsOf(cells, piece.all, true));
  }
  // Of pieces that share a point, the one with the cell above the point defines its value.
  for (std::size_t n = 0; cells.pieces.size() > 1 && n < cells.pieces.size(); ++n)
    sites.sources.push_back({n, pointsOf(cells, cells.pieces[n].own, false)});
  return sites;
}

template <class T>
std::vector<std::vector<T>> valuesAtPieces(Transport& transport, const GridSites& sites,
                                           const std::vector<T>& own) {
  const std::vector<CellRange> boxes = allgather(transport, sites.box);
  std::vector<std::int64_t> counts;
  const std::vector<CellRange> theirs = allgatherv(transport, sites.pieces, &counts);
  std::vector<std::vector<T>> result;
  // The sites of a rank in the pieces of another rank, one piece after the other.
  sendRecords<T>(
      transport,
      [&](RecordOutbox<T>& outbox) {
        std::size_t next = 0;
        for (int rank = 0; rank < outbox.ranks(); ++rank) {
          std::vector<T> values;
          for (std::int64_t n = 0; n < counts[index(rank)]; ++n, ++next)
            if (rank != transport.rank())
              forEachImage(sites, sites.box, [&](const CellRange& box) {
                forEachSite(box, box, theirs[next],
                            [&](std::size_t mine, std::size_t) { values.push_back(own[mine]); });
              });
          outbox.add(rank, values);
        }
        for (const CellRange& piece : sites.pieces) {
          std::vector<T>& values = result.emplace_back(index(piece.cells()), T());
          forEachImage(sites, sites.box, [&](const CellRange& box) {
            forEachSite(box, box, piece,
                        [&](std::size_t mine, std::size_t place) { values[place] = own[mine]; });
          });
        }
      },
      [&](const Records<T>& received) {
        for (int rank = 0; rank < transport.size(); ++rank) {
          if (rank == transport.rank()) continue;
          const Span<const T> values = received.from(rank);
          const CellRange& box = boxes[index(rank)];
          std::size_t at = 0;
          for (std::size_t n = 0; n < sites.pieces.size(); ++n)
            forEachImage(sites, box, [&](const CellRange& image) {
              forEachSite(image, image, sites.pieces[n], [&](std::size_t, std::size_t place) {
                if (at >= values.size()) refuseMessage("too few values of sites");
                result[n][place] = values[at++];
              });
            });
        }
      });
  return result;
}

template std::vector<std::vector<double>> valuesAtPieces(Transport&, const GridSites&,
                                                         const std::vector<double>&);
template std::vector<std::vector<std::uint8_t>> valuesAtPieces(Transport&, const GridSites&,
                                                               const std::vector<std::uint8_t>&);

}  // namespace tributary
