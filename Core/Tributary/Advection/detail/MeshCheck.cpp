// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/detail/MeshCheck.h"

#include <algorithm>
#include <array>
#include <string>

#include "Tributary/Advection/detail/MeshShapes.h"
#include "Tributary/Base/CellTypes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"

namespace tributary::detail {
namespace {

void checkGrid(const MeshPiece& piece, const std::string& name, const ParallelFor& parallelFor) {
  const StructuredCells& grid = *piece.grid;
  const auto cells = static_cast<std::int64_t>(piece.types.size());
  if (grid.cellCount() != cells || grid.pointCount() != piece.points.tuples)
    throw Error(name + " has " + std::to_string(cells) + " cells and " +
                std::to_string(piece.points.tuples) + " points for a grid with " +
                std::to_string(grid.cellCount()) + " cells and " +
                std::to_string(grid.pointCount()) + " points; give as many");
  const auto fits = [&](std::uint8_t type) {
    return type == (grid.dimension() == 3 ? Hexahedron : Quad);
  };
  const auto fitAll = [&](std::int64_t begin, std::int64_t end) {
    return std::all_of(piece.types.begin() + begin, piece.types.begin() + end, fits);
  };
  if (grid.dimension() < 2 || !holdsForAll(parallelFor, cells, fitAll))
    throw Error(name +
                " is a grid with other cells than hexahedra or quadrilaterals; give it "
                "those, in 2 or 3 dimensions");
}

void checkCells(const MeshPiece& piece, const std::string& name, const ParallelFor& parallelFor) {
  const auto cells = static_cast<std::int64_t>(piece.types.size());
  if (static_cast<std::int64_t>(piece.offsets.size()) != cells + 1)
    throw Error(name + " has " + std::to_string(piece.offsets.size()) + " offsets for " +
                std::to_string(cells) + " cells; give one for each cell and one more");
  std::array<std::int64_t, 256> pointsOfType;
  for (std::size_t type = 0; type < pointsOfType.size(); ++type) {
    const CellShape shape = shapeOf(std::uint8_t(type));
    pointsOfType[type] = shape == CellShape::Foreign ? -1 : topologyOf(shape).points;
  }
  const auto hasFineOffsets = [&](std::size_t c) {
    const auto begin = piece.offsets[c], end = piece.offsets[c + 1];
    return begin >= 0 && end >= begin && end <= std::int64_t(piece.connectivity.size());
  };
  const auto isFine = [&](std::int64_t cell) {
    const auto c = std::size_t(cell);
    const std::int64_t wanted = pointsOfType[piece.types[c]];
    return hasFineOffsets(c) && (wanted < 0 || piece.offsets[c + 1] - piece.offsets[c] == wanted);
  };
  const bool fine = holdsForAll(parallelFor, cells, [&](std::int64_t begin, std::int64_t end) {
    bool all = true;
    for (std::int64_t cell = begin; cell < end; ++cell) all = all && isFine(cell);
    return all;
  });
  if (!fine) {
    std::int64_t cell = 0;
    while (isFine(cell)) ++cell;
    const auto c = std::size_t(cell);
    if (!hasFineOffsets(c))
      throw Error(name + " has malformed offsets at cell " + std::to_string(c) +
                  "; give ascending offsets within the connectivity, from 0 on");
    throw Error(name + ": cell " + std::to_string(c) + " of type " +
                std::to_string(piece.types[c]) + " has " +
                std::to_string(piece.offsets[c + 1] - piece.offsets[c]) + " points; give it " +
                std::to_string(pointsOfType[piece.types[c]]) + ", or remove it");
  }
  const Span<const std::int64_t> connectivity = piece.connectivity;
  if (holdsForAll(parallelFor, std::int64_t(connectivity.size()),
                  [&](std::int64_t begin, std::int64_t end) {
                    return areIndices(
                        connectivity.subspan(std::size_t(begin), std::size_t(end - begin)),
                        piece.points.tuples);
                  }))
    return;
  for (const auto id : connectivity)
    if (id < 0 || id >= piece.points.tuples)
      throw Error(name + " refers to point " + std::to_string(id) + " of " +
                  std::to_string(piece.points.tuples) +
                  "; give the numbers of points of the piece");
}

void checkLaterPoints(const MeshPiece& piece, const std::string& name) {
  const ArrayView& later = piece.laterPoints;
  if (!later.data) return;
  if (!piece.laterVelocity.data)
    throw Error(name + " moves in a steady field; give it velocities at the end of the interval");
  if (later.tuples != piece.points.tuples || later.isDouble != piece.points.isDouble)
    throw Error(name + " has " + std::to_string(later.tuples) +
                " points at the end of the interval and " + std::to_string(piece.points.tuples) +
                " at its beginning, or they are of different types; give as many of the same type");
  if (piece.foreign)
    throw Error(name +
                " moves and has cells of other than the linear types; convert them to linear cells "
                "with Tetrahedralize first");
}

}  // namespace

void checkLaterVelocity(const std::string& piece, const ArrayView& velocity,
                        const ArrayView& laterVelocity) {
  if (laterVelocity.data &&
      (laterVelocity.tuples != velocity.tuples || laterVelocity.isDouble != velocity.isDouble))
    throw Error(piece + " has " + std::to_string(laterVelocity.tuples) +
                " velocities at the end of the interval and " + std::to_string(velocity.tuples) +
                " at its beginning, or they are of different types; give as many of the same type");
}

void checkPiece(const MeshPiece& piece, bool isChecked, int blocks, int dimension,
                const ParallelFor& parallelFor) {
  const std::string name = "mesh piece " + std::to_string(piece.piece);
  if (blocks < 1)
    throw Error("there are " + std::to_string(blocks) + " blocks per piece; give at least 1");
  if (dimension != 2 && dimension != 3)
    throw Error(name + " is of dimension " + std::to_string(dimension) + "; give 2 or 3");
  const auto cells = static_cast<std::int64_t>(piece.types.size());
  if (piece.grid)
    checkGrid(piece, name, parallelFor);
  else if (!isChecked)
    checkCells(piece, name, parallelFor);
  if (!piece.ghosts.empty() && static_cast<std::int64_t>(piece.ghosts.size()) != cells)
    throw Error(name + " has " + std::to_string(piece.ghosts.size()) + " ghost flags for " +
                std::to_string(cells) + " cells; remove them, or compute them again");
  if (piece.velocity.tuples != (piece.cellCentered ? cells : piece.points.tuples))
    throw Error(name + " has " + std::to_string(piece.velocity.tuples) + " velocities for " +
                std::to_string(piece.points.tuples) + " points and " + std::to_string(cells) +
                " cells; give one for each " + (piece.cellCentered ? "cell" : "point"));
  checkLaterVelocity(name, piece.velocity, piece.laterVelocity);
  checkLaterPoints(piece, name);
  if (!piece.globalPointIds.empty() &&
      static_cast<std::int64_t>(piece.globalPointIds.size()) != piece.points.tuples)
    throw Error(name + " has " + std::to_string(piece.globalPointIds.size()) + " global ids for " +
                std::to_string(piece.points.tuples) +
                " points; remove them, or number the points again");
}

}  // namespace tributary::detail
