// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/MeshField.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>

#include "Tributary/Advection/Domain.h"
#include "Tributary/Advection/detail/MeshBlock.h"
#include "Tributary/Advection/detail/MeshCells.h"
#include "Tributary/Advection/detail/MeshCheck.h"
#include "Tributary/Advection/detail/MeshLinks.h"
#include "Tributary/Advection/detail/MeshTopology.h"
#include "Tributary/Base/CellTypes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Fingerprint.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Records.h"

namespace tributary {

using namespace detail;

bool isForeign(std::uint8_t type) {
  return shapeOf(type) == CellShape::Foreign;
}

namespace {

/// What all ranks know of each piece.
struct PieceSummary {
  Box box;                  ///< Empty if no cell is traced through.
  std::int64_t hasIds = 0;  ///< Not 0 if the piece has global ids.
};

/// A rank's pieces.
using Topologies = std::vector<std::shared_ptr<MeshTopology>>;

PieceSummary summaryOf(const MeshTopology& topology) {
  PieceSummary summary;
  for (int block = 0; block < topology.blocks(); ++block) include(summary.box, topology.box(block));
  summary.hasIds = !topology.piece().globalPointIds.empty();
  return summary;
}

/// The points of candidates that other pieces may have, too: all of them if ids identify points,
/// otherwise those in the box of another piece.
/// @param boxes   of all pieces of all ranks
/// @param number  of the piece among these
Border borderOf(const MeshTopology& topology, const std::vector<Box>& boxes, std::size_t number,
                bool byId) {
  if (byId) return topology.wholeBorder();
  std::vector<Box> others;
  for (std::size_t n = 0; n < boxes.size(); ++n)
    if (n != number && intersects(boxes[n], boxes[number])) others.push_back(boxes[n]);
  return topology.borderIn(others);
}

/// Collective. Links the cells of different pieces.
void linkPieces(Transport& transport, ErrorCollector& errors, const Topologies& pieces) {
  std::vector<PieceSummary> mine;
  if (!errors.any())
    errors.attempt([&] {
      for (const auto& piece : pieces) mine.push_back(summaryOf(*piece));
    });
  std::vector<std::int64_t> counts;
  const std::vector<PieceSummary> all = allgatherv(transport, mine, &counts);
  // Ids identify points across pieces only if all pieces have them.
  bool byId = true;
  std::int64_t used = 0;
  for (const PieceSummary& piece : all) {
    used += !piece.box.empty();
    byId = byId && (piece.hasIds != 0 || piece.box.empty());
  }
  for (const auto& piece : pieces)  // without a cell to trace through, a piece need not have ids
    piece->identifyPoints(byId && !piece->piece().globalPointIds.empty());
  if (used < 2) return;  // the same on all ranks

  std::vector<Border> border;
  std::vector<std::uint64_t> hashes;
  if (!errors.any())
    errors.attempt([&] {
      std::vector<Box> list;
      for (const PieceSummary& piece : all) list.push_back(piece.box);
      const auto first = std::size_t(
          std::accumulate(counts.begin(), counts.begin() + transport.rank(), std::int64_t{0}));
      for (std::size_t n = 0; n < pieces.size(); ++n) {
        border.push_back(borderOf(*pieces[n], list, first + n, byId));
        const auto begin = std::ptrdiff_t(hashes.size());
        const std::vector<bool>& points = border[n].points;
        for (std::size_t i = 0; i < points.size(); ++i)
          if (points[i]) hashes.push_back(pieces[n]->hashOf(std::int64_t(i)));
        std::sort(hashes.begin() + begin, hashes.end());
        hashes.erase(std::unique(hashes.begin() + begin, hashes.end()), hashes.end());
      }
    });
  const auto shared = findShared(transport, errors, std::move(hashes));
  std::vector<FaceSide> sides;
  if (!errors.anyKnown())
    errors.attempt([&] {
      for (std::size_t n = 0; n < pieces.size(); ++n) {
        std::vector<bool>& points = border[n].points;
        for (std::size_t i = 0; i < points.size(); ++i)
          points[i] = points[i] && std::binary_search(shared.begin(), shared.end(),
                                                      pieces[n]->hashOf(std::int64_t(i)));
        const auto found = pieces[n]->setSharedPoints(std::move(border[n]));
        sides.insert(sides.end(), found.begin(), found.end());
      }
    });
  const std::vector<FacePair> pairs = matchFaces(transport, errors, std::move(sides));
  if (!errors.anyKnown())
    errors.attempt([&] {
      std::vector<std::pair<BlockId, std::size_t>> byBlock;  // the first of a piece, and the piece
      for (std::size_t n = 0; n < pieces.size(); ++n)
        byBlock.emplace_back(pieces[n]->firstBlock(), n);
      std::sort(byBlock.begin(), byBlock.end());
      std::vector<std::vector<FacePair>> pairsOf(pieces.size());
      for (const FacePair& pair : pairs) {
        const BlockId block = pair.mine.block;
        const auto next =
            std::upper_bound(byBlock.begin(), byBlock.end(), std::make_pair(block, pieces.size()));
        if (next == byBlock.begin()) refuseMessage("a face of another rank's block");
        const auto [first, piece] = *std::prev(next);
        if (block >= first + pieces[piece]->blocks())
          refuseMessage("a face of another rank's block");
        pairsOf[piece].push_back(pair);
      }
      for (std::size_t n = 0; n < pieces.size(); ++n) pieces[n]->setOuterNeighbors(pairsOf[n]);
    });
}

/// Of all that the topology of a piece depends on.
Fingerprint fingerprintOf(const Transport& transport, const MeshPiece& piece, int blocks,
                          int dimension, BlockId firstBlock, const ParallelFor& parallelFor) {
  Fingerprint print;
  for (const std::int64_t value :
       {std::int64_t(transport.rank()), std::int64_t(transport.size()), std::int64_t(piece.piece),
        std::int64_t(blocks), std::int64_t(dimension), firstBlock,
        std::int64_t(piece.points.isDouble), std::int64_t(piece.foreign != nullptr),
        std::int64_t(moves(piece))})
    print.addValue(value);
  for (const ArrayView* points : {&piece.points, &piece.laterPoints})
    if (points->data || points == &piece.points)
      print.add(points->data, std::size_t(points->tuples) * 3 * (points->isDouble ? 8 : 4),
                parallelFor);
  if (piece.grid)
    for (const std::int64_t points : piece.grid->points()) print.addValue(points);
  print.add(piece.types, parallelFor);
  print.add(piece.offsets, parallelFor);
  print.add(piece.connectivity, parallelFor);
  print.add(piece.ghosts, parallelFor);
  print.add(piece.globalPointIds, parallelFor);
  return print;
}

}  // namespace

struct MeshCache::Contents {
  std::vector<Fingerprint> prints;  // of the pieces
  Topologies topologies;
  bool reused = false;

  /// Whether the cells and points of the n-th piece are those of the last call.
  [[nodiscard]] bool knows(const Fingerprint& print, std::size_t n) const {
    return n < prints.size() && prints[n] == print;
  }
  /// Whether the topologies belong to pieces with these fingerprints and are used by no block.
  [[nodiscard]] bool fits(const std::vector<Fingerprint>& wanted) const {
    return prints == wanted && topologies.size() == wanted.size() &&
           std::all_of(topologies.begin(), topologies.end(),
                       [](const auto& topology) { return topology.use_count() == 1; });
  }
};

MeshCache::MeshCache() : contents_(std::make_unique<Contents>()) {}
MeshCache::MeshCache(MeshCache&&) noexcept = default;
MeshCache& MeshCache::operator=(MeshCache&&) noexcept = default;
MeshCache::~MeshCache() = default;

bool MeshCache::reused() const {
  return contents_->reused;
}

std::vector<std::unique_ptr<FieldBlock>> makeMeshBlocks(
    Transport& transport, const std::vector<MeshPiece>& pieces, int blocksPerPiece, int dimension,
    const std::vector<BlockId>& firstBlock, MeshCache* cache, const ParallelFor& parallelFor) {
  Topologies topologies;
  std::vector<Fingerprint> prints;
  ErrorCollector errors;  // agreed on once, at the end: each exchange tells all ranks of errors
  errors.attempt([&] {
    if (firstBlock.size() != pieces.size())
      throw Error("every mesh piece needs a block id; give one for each piece");
    for (std::size_t n = 0; n < pieces.size(); ++n) {
      if (cache)
        prints.push_back(fingerprintOf(transport, pieces[n], blocksPerPiece, dimension,
                                       firstBlock[n], parallelFor));
      const bool isChecked = cache && cache->contents_->knows(prints.back(), n);
      checkPiece(pieces[n], isChecked, blocksPerPiece, dimension, parallelFor);
    }
  });
  const bool fits = !errors.any() && cache && cache->contents_->fits(prints);
  const bool reuse = allreduce(transport, ReduceOp::Min, std::int64_t(fits)) != 0;
  if (cache && reuse) {
    errors.attempt([&] {
      topologies = cache->contents_->topologies;
      for (std::size_t n = 0; n < pieces.size(); ++n) topologies[n]->renew(pieces[n]);
    });
  } else {
    if (cache) *cache->contents_ = {};  // before new memory is allocated
    if (!errors.any())
      errors.attempt([&] {
        for (std::size_t n = 0; n < pieces.size(); ++n)
          topologies.push_back(std::make_shared<MeshTopology>(pieces[n], blocksPerPiece, dimension,
                                                              firstBlock[n], parallelFor));
      });
    linkPieces(transport, errors, topologies);
    if (!errors.anyKnown())
      errors.attempt([&] {
        for (const auto& topology : topologies) topology->findNeighborsOfBlocks();
      });
  }
  std::vector<std::unique_ptr<FieldBlock>> blocks;
  if (!errors.anyKnown())
    errors.attempt([&] {
      for (const auto& topology : topologies)
        for (int number = 0; number < blocksPerPiece; ++number) {
          auto block = std::make_unique<MeshBlock>(topology, number);
          if (reuse) block->readVelocities(parallelFor);
          blocks.push_back(std::move(block));
        }
    });
  errors.agree(transport);
  if (cache) *cache->contents_ = {std::move(prints), std::move(topologies), reuse};
  return blocks;
}

}  // namespace tributary
