// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/StructuredField.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "Tributary/Advection/detail/GridAssembly.h"
#include "Tributary/Advection/detail/MeshCheck.h"
#include "Tributary/Advection/detail/StructuredBlock.h"
#include "Tributary/Base/CellTypes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Records.h"

namespace tributary {

using namespace detail;

namespace {

std::string named(const StructuredPiece& piece) {
  return "structured piece " + std::to_string(piece.piece) + " of grid " +
         std::to_string(piece.grid);
}

void check(const StructuredPiece& piece) {
  std::int64_t points = 1, cells = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    const auto n = pointsAlong(piece.extent, a);
    if (n < 1) throw Error(named(piece) + " has an empty extent; leave it out");
    if (n > std::numeric_limits<std::int32_t>::max() / 2)
      throw Error(named(piece) + " has " + std::to_string(n) +
                  " points along an axis, too many; cut it into smaller pieces");
    points *= n;
    cells *= std::max<std::int64_t>(n - 1, 1);
    if (piece.uniform) {
      if (!(piece.spacing[a] > 0 && std::isfinite(piece.spacing[a]) &&
            std::isfinite(piece.origin[a])))
        throw Error(named(piece) + " needs a finite origin and a positive spacing along each axis");
    } else {
      const auto& c = piece.coordinates[a];
      if (static_cast<std::int64_t>(c.size()) != n)
        throw Error(named(piece) + " has " + std::to_string(c.size()) + " coordinates for " +
                    std::to_string(n) + " points along an axis; give one for each point");
      for (std::size_t i = 0; i < c.size(); ++i)
        if (!std::isfinite(c[i]) || (i > 0 && !(c[i] > c[i - 1])))
          throw Error(named(piece) + " needs finite, strictly increasing coordinates");
    }
  }
  if (piece.cellCentered && piece.onFaces)
    throw Error(named(piece) + " has velocities of cells and of faces; set one of the two");
  const std::int64_t tuples = piece.cellCentered ? cells : points;
  if (!piece.velocity.data || piece.velocity.tuples != tuples)
    throw Error(named(piece) + " has " + std::to_string(piece.velocity.tuples) +
                " velocities where " + std::to_string(tuples) + " are needed; give one for each " +
                (piece.cellCentered ? "cell" : "point"));
  checkLaterVelocity(named(piece), piece.velocity, piece.laterVelocity);
  if (!piece.ghosts.empty() && static_cast<std::int64_t>(piece.ghosts.size()) != cells)
    throw Error(named(piece) + " has " + std::to_string(piece.ghosts.size()) + " ghost flags for " +
                std::to_string(cells) + " cells; remove them, or compute them again");
}

/// Bounding box of the cells that are not duplicates of cells of another piece.
CellBox ownedCells(const StructuredPiece& piece, const CellBox& stored) {
  if (piece.ghosts.empty()) return stored;
  CellBox owned{stored.hi, stored.lo};
  std::size_t at = 0;
  for (std::int32_t k = stored.lo[2]; k < stored.hi[2]; ++k)
    for (std::int32_t j = stored.lo[1]; j < stored.hi[1]; ++j)
      for (std::int32_t i = stored.lo[0]; i < stored.hi[0]; ++i)
        if (!(piece.ghosts[at++] & DuplicateCell)) {
          const Index3 cell{i, j, k};
          for (std::size_t a = 0; a < 3; ++a) {
            owned.lo[a] = std::min(owned.lo[a], cell[a]);
            owned.hi[a] = std::max(owned.hi[a], cell[a] + 1);
          }
        }
  return owned;
}

/// Cuts a box into `parts` of nearly equal size along its longest axes.
void split(const CellBox& box, int parts, std::vector<CellBox>& out) {
  if (parts == 1) {
    out.push_back(box);
    return;
  }
  std::size_t axis = 0;
  for (std::size_t a = 1; a < 3; ++a)
    if (box.hi[a] - box.lo[a] > box.hi[axis] - box.lo[axis]) axis = a;
  const int left = parts / 2;
  const auto width = static_cast<std::int64_t>(box.hi[axis]) - box.lo[axis];
  const auto cut =
      static_cast<std::int32_t>(box.lo[axis] + std::max<std::int64_t>(width, 0) * left / parts);
  CellBox low = box, high = box;
  low.hi[axis] = high.lo[axis] = cut;
  split(low, left, out);
  split(high, parts - left, out);
}

/// The cells of a block, as all ranks know them.
struct PartOfGrid {
  int grid;
  StructuredGrid::Part part;

  CellBox box() const { return {part.lo, part.hi}; }
};

/// A piece of this rank as a box of its whole grid.
struct PlacedPiece {
  const StructuredPiece* piece;
  std::shared_ptr<const StructuredGrid> grid;
  CellBox stored;  // all its cells
  CellBox owned;   // without duplicates
};

PlacedPiece place(const StructuredPiece& piece, const WholeGrid& whole) {
  CellBox stored;
  for (std::size_t a = 0; a < 3; ++a) {
    const bool flat = whole.grid->axes[a].cells == 0;
    stored.lo[a] = piece.extent[2 * a] - whole.firstIndex[a];
    // A piece that is one layer of points in a grid that is not flat owns no cell.
    stored.hi[a] =
        stored.lo[a] + (flat ? 1 : static_cast<std::int32_t>(pointsAlong(piece.extent, a)) - 1);
  }
  return {&piece, whole.grid, stored, stored.empty() ? stored : ownedCells(piece, stored)};
}

/// The blocks of this rank, piece by piece.
std::vector<PartOfGrid> cutPieces(const std::vector<PlacedPiece>& placed, int blocksPerPiece,
                                  const std::vector<BlockId>& firstBlock) {
  std::vector<PartOfGrid> parts;
  for (std::size_t n = 0; n < placed.size(); ++n) {
    std::vector<CellBox> boxes;
    split(placed[n].owned, blocksPerPiece, boxes);
    for (std::size_t b = 0; b < boxes.size(); ++b)
      parts.push_back(
          {placed[n].piece->grid, {boxes[b].lo, boxes[b].hi, firstBlock[n] + BlockId(b)}});
  }
  return parts;
}

/// Tells all grids which blocks own their cells.
void setParts(const std::vector<PartOfGrid>& all, std::map<int, WholeGrid>& grids) {
  std::map<int, std::vector<StructuredGrid::Part>> parts;
  for (const PartOfGrid& p : all)
    if (!p.box().empty()) parts[p.grid].push_back(p.part);
  for (auto& [number, list] : parts) {
    const auto grid = grids.find(number);
    if (grid == grids.end())
      refuseMessage("a part of grid " + std::to_string(number) + ", which has no piece");
    grid->second.grid->setParts(std::move(list));
  }
}

/// The arrays of a piece.
StructuredArrays arraysOf(const PlacedPiece& placed) {
  const StructuredPiece& piece = *placed.piece;
  StructuredArrays arrays{placed.stored, piece.velocity, piece.laterVelocity, piece.cellCentered,
                          piece.onFaces};
  for (const std::uint8_t flag : piece.ghosts)
    if (flag & HiddenCell) arrays.hidden = piece.ghosts.data();
  return arrays;
}

/// The cells that a block evaluates: ghost layers beyond the piece's own cells are evaluated by the
/// blocks at its rim.
CellBox evaluatedBy(const PlacedPiece& placed, const CellBox& box) {
  CellBox evaluated = box;
  if (box.empty()) return evaluated;
  for (std::size_t a = 0; a < 3; ++a) {
    if (box.lo[a] == placed.owned.lo[a]) evaluated.lo[a] = placed.stored.lo[a];
    if (box.hi[a] == placed.owned.hi[a]) evaluated.hi[a] = placed.stored.hi[a];
  }
  return evaluated;
}

/// The blocks whose cells touch those of a block, ascending.
std::vector<BlockId> neighborsOf(const StructuredGrid::Part& part,
                                 const std::vector<StructuredGrid::Part>& others) {
  std::vector<BlockId> neighbors;
  if (CellBox{part.lo, part.hi}.empty()) return neighbors;
  for (const StructuredGrid::Part& other : others) {
    bool touches = other.block != part.block;
    for (std::size_t a = 0; a < 3; ++a)
      touches = touches && other.lo[a] <= part.hi[a] && other.hi[a] >= part.lo[a];
    if (touches) neighbors.push_back(other.block);
  }
  std::sort(neighbors.begin(), neighbors.end());
  return neighbors;
}

}  // namespace

std::vector<std::unique_ptr<FieldBlock>> makeStructuredBlocks(
    Transport& transport, const std::vector<StructuredPiece>& pieces, int blocksPerPiece,
    const std::vector<BlockId>& firstBlock, StructuredGrids* gridsOfAll) {
  Bytes description;
  collectively(transport, [&] {
    if (blocksPerPiece < 1)
      throw Error("there are " + std::to_string(blocksPerPiece) +
                  " blocks per piece; give at least 1");
    if (firstBlock.size() != pieces.size())
      throw Error("every structured piece needs a block id; give one for each piece");
    for (const auto& piece : pieces) check(piece);
    description = describePieces(pieces);
  });

  std::map<int, WholeGrid> grids;
  std::vector<PlacedPiece> placed;
  std::vector<PartOfGrid> mine;
  ErrorCollector errors;
  std::vector<PieceDescription> described;
  allgatherRead(transport, std::move(description), errors,
                [&](Reader& reader, int) { described.push_back(readPiece(reader)); });
  if (!errors.any())
    errors.attempt([&] {
      grids = assembleGrids(described);
      for (const auto& piece : pieces) {
        const auto grid = grids.find(piece.grid);
        if (grid == grids.end()) refuseMessage("unknown grid " + std::to_string(piece.grid));
        placed.push_back(place(piece, grid->second));
      }
      mine = cutPieces(placed, blocksPerPiece, firstBlock);
    });
  errors.agree(transport);

  const std::vector<PartOfGrid> all = allgatherv(transport, mine);
  std::vector<std::unique_ptr<FieldBlock>> blocks;
  collectively(transport, [&] {
    setParts(all, grids);
    for (std::size_t n = 0; n < mine.size(); ++n) {
      const StructuredGrid::Part& part = mine[n].part;
      const PlacedPiece& from = placed[n / index(blocksPerPiece)];
      const CellBox box = mine[n].box();
      blocks.push_back(std::make_unique<StructuredBlock>(
          part.block, from.piece->piece, from.grid, arraysOf(from), box, evaluatedBy(from, box),
          neighborsOf(part, from.grid->parts())));
    }
    if (gridsOfAll)
      for (const auto& [number, whole] : grids) gridsOfAll->emplace(number, whole.grid);
  });
  return blocks;
}

}  // namespace tributary
