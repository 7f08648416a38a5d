// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/MeshField.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <unordered_map>
#include <utility>

#include "Tributary/Advection/detail/MeshBlock.h"
#include "Tributary/Advection/detail/MeshCells.h"
#include "Tributary/Advection/detail/MeshLinks.h"
#include "Tributary/Advection/detail/Morton.h"
#include "Tributary/Base/CellTypes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Records.h"

namespace tributary {

using namespace detail;

namespace {

void check(const MeshPiece& piece, int blocksPerPiece, int dimension) {
  const std::string name = "mesh piece " + std::to_string(piece.piece);
  if (blocksPerPiece < 1) throw Error("there must be at least one block per piece");
  if (dimension != 2 && dimension != 3) throw Error(name + " must be of dimension 2 or 3");
  const auto cells = static_cast<std::int64_t>(piece.types.size());
  if (static_cast<std::int64_t>(piece.offsets.size()) != cells + 1)
    throw Error(name + " has " + std::to_string(piece.offsets.size()) + " offsets for " +
                std::to_string(cells) + " cells");
  if (!piece.ghosts.empty() && static_cast<std::int64_t>(piece.ghosts.size()) != cells)
    throw Error(name + " has " + std::to_string(piece.ghosts.size()) + " ghost flags for " +
                std::to_string(cells) + " cells; remove them, or compute them again");
  if (piece.velocity.tuples != (piece.cellCentered ? cells : piece.points.tuples))
    throw Error(name + " has " + std::to_string(piece.velocity.tuples) + " velocities for " +
                std::to_string(piece.points.tuples) + " points and " + std::to_string(cells) +
                " cells; give one for each " + (piece.cellCentered ? "cell" : "point"));
  if (!piece.globalPointIds.empty() &&
      static_cast<std::int64_t>(piece.globalPointIds.size()) != piece.points.tuples)
    throw Error(name + " has " + std::to_string(piece.globalPointIds.size()) + " global ids for " +
                std::to_string(piece.points.tuples) + " points");
  if (piece.offsets[0] < 0) throw Error(name + " has a negative offset");
  for (std::size_t c = 0; c < std::size_t(cells); ++c) {
    const auto begin = piece.offsets[c], end = piece.offsets[c + 1];
    if (end < begin || end > static_cast<std::int64_t>(piece.connectivity.size()))
      throw Error(name + " has malformed offsets at cell " + std::to_string(c));
    const CellShape shape = shapeOf(piece.types[c]);
    if (shape != CellShape::Foreign && end - begin != topologyOf(shape).points)
      throw Error(name + ": cell " + std::to_string(c) + " of type " +
                  std::to_string(piece.types[c]) + " has " + std::to_string(end - begin) +
                  " points");
  }
  for (const auto id : piece.connectivity)
    if (id < 0 || id >= piece.points.tuples)
      throw Error(name + " refers to point " + std::to_string(id) + " of " +
                  std::to_string(piece.points.tuples));
}

/// The cells of a piece that are traced through, in the Morton order of their first points, cut
/// into `blocks` runs of equal length.
std::vector<std::vector<std::int64_t>> cutIntoBlocks(const MeshPiece& piece, int blocks,
                                                     int dimension) {
  std::vector<std::int64_t> cells;
  for (std::size_t c = 0; c < piece.types.size(); ++c) {
    if (!piece.ghosts.empty() && (piece.ghosts[c] & (DuplicateCell | HiddenCell))) continue;
    if (dimensionOf(piece.types[c]) != dimension || piece.offsets[c] == piece.offsets[c + 1])
      continue;
    if (shapeOf(piece.types[c]) == CellShape::Foreign && !piece.foreign) continue;
    if (isFlat(piece, static_cast<std::int64_t>(c))) continue;
    cells.push_back(static_cast<std::int64_t>(c));
  }
  Point lo{}, hi{};
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Point p = tuple(piece.points, pointsOf(piece, cells[i]).ids[0]);
    for (std::size_t a = 0; a < 3; ++a) {
      lo[a] = i ? std::min(lo[a], p[a]) : p[a];
      hi[a] = i ? std::max(hi[a], p[a]) : p[a];
    }
  }
  std::vector<std::pair<std::uint64_t, std::int64_t>> order;
  order.reserve(cells.size());
  for (const auto cell : cells) {
    const Point p = tuple(piece.points, pointsOf(piece, cell).ids[0]);
    order.emplace_back(mortonCode(lo.data(), hi.data(), p.data()), cell);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::vector<std::int64_t>> out(static_cast<std::size_t>(blocks));
  for (std::size_t i = 0; i < order.size(); ++i)
    out[i * std::size_t(blocks) / order.size()].push_back(order[i].second);
  return out;
}

std::uint64_t hashOfPoint(const MeshPiece& piece, std::size_t point, bool byId) {
  return byId ? pointHash(piece.globalPointIds[point])
              : pointHash(tuple(piece.points, std::int64_t(point)).data());
}

/// The cells of each block of each piece.
using Cut = std::vector<std::vector<std::vector<std::int64_t>>>;

/// Collective. Names the points of the cells in the blocks. The other points have no name: a piece
/// without such a cell need not have the ids that the others have.
std::vector<PointNames> namePoints(Transport& transport, ErrorCollector& errors,
                                   const std::vector<MeshPiece>& pieces, const Cut& cut,
                                   bool byId) {
  std::vector<PointNames> names;
  std::vector<std::uint64_t> mine;
  if (!errors.anyKnown())
    errors.attempt([&] {
      names.resize(pieces.size());
      for (std::size_t n = 0; n < pieces.size(); ++n) {
        const auto count = std::size_t(pieces[n].points.tuples);
        names[n].hashes.assign(count, 0);
        auto& used = names[n].elsewhere;
        used.assign(count, false);
        for (const auto& cells : cut[n])
          for (const auto cell : cells) {
            const CellPoints points = pointsOf(pieces[n], cell);
            for (int i = 0; i < points.count; ++i) used[std::size_t(points.ids[i])] = true;
          }
        for (std::size_t i = 0; i < count; ++i)
          if (used[i]) {
            names[n].hashes[i] = hashOfPoint(pieces[n], i, byId);
            mine.push_back(names[n].hashes[i]);
          }
      }
    });
  const auto shared = heldElsewhere(transport, errors, std::move(mine));
  if (errors.anyKnown()) return {};
  for (auto& piece : names)
    for (std::size_t i = 0; i < piece.hashes.size(); ++i)
      piece.elsewhere[i] = std::binary_search(shared.begin(), shared.end(), piece.hashes[i]);
  return names;
}

}  // namespace

std::vector<std::unique_ptr<FieldBlock>> makeMeshBlocks(Transport& transport,
                                                        const std::vector<MeshPiece>& pieces,
                                                        int blocksPerPiece, int dimension,
                                                        const std::vector<BlockId>& firstBlock) {
  std::vector<std::unique_ptr<MeshBlock>> blocks;
  Cut cut;
  bool ids = true;
  ErrorCollector errors;  // agreed on once, at the end: each exchange tells all ranks of errors
  errors.attempt([&] {
    if (firstBlock.size() != pieces.size()) throw Error("every mesh piece needs a block id");
    for (const auto& piece : pieces) {
      check(piece, blocksPerPiece, dimension);
      cut.push_back(cutIntoBlocks(piece, blocksPerPiece, dimension));
      const bool used = !cut.back().front().empty();  // the first block has the odd cells
      ids = ids && (!piece.globalPointIds.empty() || !used);
    }
  });
  // Ids identify points across ranks only if all pieces have them.
  ids = allreduce(transport, ReduceOp::Min, std::int64_t(ids)) != 0;
  const auto names = namePoints(transport, errors, pieces, cut, ids);
  FaceLists faces;
  if (!errors.anyKnown())
    errors.attempt([&] {
      for (std::size_t n = 0; n < pieces.size(); ++n) {
        for (std::size_t b = 0; b < cut[n].size(); ++b) {
          blocks.push_back(std::make_unique<MeshBlock>(firstBlock[n] + BlockId(b), pieces[n],
                                                       std::move(cut[n][b])));
          blocks.back()->listFaces(names[n], dimension, faces);
        }
      }
    });
  const auto pairs = matchFaces(transport, errors, faces.inner, std::move(faces.outer));
  std::vector<std::unique_ptr<FieldBlock>> result;
  if (!errors.anyKnown())
    errors.attempt([&] {
      std::unordered_map<BlockId, MeshBlock*> blockOf;
      for (const auto& block : blocks) blockOf[block->id()] = block.get();
      for (const FacePair& pair : pairs) {
        const auto block = blockOf.find(pair.mine.block);
        if (block == blockOf.end()) refuseMessage("a face of another rank's block");
        block->second->link(pair);
      }
      result.assign(std::make_move_iterator(blocks.begin()), std::make_move_iterator(blocks.end()));
    });
  errors.agree(transport);
  return result;
}

}  // namespace tributary
