// SPDX-License-Identifier: BSD-3-Clause
#include "Grids/GridSites.h"

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {
namespace {

/// The points of a box of cells: with those of its upper sides, or without them but where the grid
/// ends.
CellRange pointsOf(const GridCells& cells, CellRange box, bool withUpper) {
  if (box.empty()) return {};
  for (std::size_t a = 0; a < 3; ++a)
    if (!cells.isFlat[a] && (withUpper || box.hi[a] == cells.grid.along(a))) ++box.hi[a];
  return box;
}

}  // namespace

GridSites gridSitesOf(const GridCells& cells, bool areCells) {
  GridSites sites;
  sites.areCells = areCells;
  if (areCells) {
    sites.lattice = cellSites(cells.grid);
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
  sites.lattice = pointSites(coordinates);
  sites.box = pointsOf(cells, cells.box, false);
  for (const GridPiece& piece : cells.pieces) {
    sites.sources.push_back({sites.pieces.size(), pointsOf(cells, piece.own, true)});
    sites.pieces.push_back(pointsOf(cells, piece.all, true));
  }
  // Of pieces that share points the one with the cells above them counts.
  for (std::size_t n = 0; cells.pieces.size() > 1 && n < cells.pieces.size(); ++n)
    sites.sources.push_back({n, pointsOf(cells, cells.pieces[n].own, false)});
  return sites;
}

template <class T>
std::vector<std::vector<T>> valuesAtPieces(Transport& transport, const GridSites& sites,
                                           const std::vector<T>& own) {
  const auto me = static_cast<std::size_t>(transport.rank());
  const std::vector<CellRange> boxes = allgather(transport, sites.box);
  std::vector<std::int64_t> counts;
  const std::vector<CellRange> theirs = allgatherv(transport, sites.pieces, &counts);
  // What a rank's pieces have of another rank's sites, one piece after the other.
  std::vector<Bytes> toEachRank(boxes.size());
  std::vector<std::vector<T>> result;
  collectively(transport, [&] {
    std::size_t next = 0;
    for (std::size_t rank = 0; rank < boxes.size(); ++rank) {
      std::vector<T> values;
      for (std::int64_t n = 0; n < counts[rank]; ++n, ++next)
        if (rank != me)
          forEachSite(sites.box, sites.box, theirs[next],
                      [&](std::size_t mine, std::size_t) { values.push_back(own[mine]); });
      if (!values.empty()) toEachRank[rank] = Writer().range(values).take();
    }
    for (const CellRange& piece : sites.pieces) {
      result.emplace_back(static_cast<std::size_t>(piece.cells()), T());
      std::vector<T>& values = result.back();
      forEachSite(sites.box, sites.box, piece,
                  [&](std::size_t mine, std::size_t place) { values[place] = own[mine]; });
    }
  });
  const std::vector<Bytes> received = exchangeBytes(transport, std::move(toEachRank));
  collectively(transport, [&] {
    for (std::size_t rank = 0; rank < boxes.size(); ++rank) {
      if (received[rank].empty()) continue;
      Reader reader(received[rank]);
      const std::vector<T> values = reader.range<T>();
      std::size_t at = 0;
      for (std::size_t n = 0; n < sites.pieces.size(); ++n)
        forEachSite(boxes[rank], boxes[rank], sites.pieces[n], [&](std::size_t, std::size_t place) {
          if (at >= values.size()) throw Error("malformed message: too few values of ghosts");
          result[n][place] = values[at++];
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
