// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Features/detail/PieceEnds.h"

#include <string>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Records.h"
#include "Tributary/Collective/Rendezvous.h"
#include "Tributary/Components/DistributedUnion.h"

namespace tributary::detail {
namespace {

struct LinkedPieces {
  std::vector<std::vector<SetLink>> links;  // of each local block, given on both sides
  std::vector<PieceEnd> lowest;
};

/// Collective. Links the pieces that have an end or a track in common.
LinkedPieces linkPieces(Transport& transport, const Assignment& assignment,
                        std::vector<PieceEnd> ends) {
  struct Joined {
    PieceEnd end;
    SetName other;  // the same piece if it is the lowest of a track
  };
  const std::vector<Joined> joined = rendezvous<Joined>(
      transport, std::move(ends), [](const PieceEnd& e) { return hashOf(e.face); },
      [](const PieceEnd& a, const PieceEnd& b) {
        return a.face != b.face ? a.face < b.face : a.piece < b.piece;
      },
      [](const PieceEnd& a, const PieceEnd& b) { return a.face == b.face; },
      [&](Span<Met<PieceEnd>> group, auto&& send) {
        for (const auto& met : group) {
          const BlockId block = met.record.piece.block;
          if (assignment.exists(block) && assignment.rankOf(block) == met.rank) continue;
          refuseMessage("a piece of a trajectory in block " + std::to_string(block) +
                        " from rank " + std::to_string(met.rank));
        }
        const auto& lowest = group[0];
        const bool isTrack = lowest.record.face.step < 0;
        if (!isTrack && group.size() > 2) {
          throw Error(
              "critical points: more than two simplices share a facet; assign each cell to one "
              "block, and use cells that touch in whole facets only");
        }
        if (isTrack) send(lowest.rank, Joined{lowest.record, lowest.record.piece});
        for (const auto& met : group) {
          if (met.record.piece == lowest.record.piece) continue;
          send(lowest.rank, Joined{lowest.record, met.record.piece});
          send(met.rank, Joined{met.record, lowest.record.piece});
        }
      });
  LinkedPieces result;
  collectively(transport, [&] {
    result.links.resize(index(assignment.count(transport.rank())));
    for (const auto& [end, other] : joined) {
      const auto b =
          static_cast<std::uint64_t>(end.piece.block - assignment.first(transport.rank()));
      if (b >= result.links.size())
        refuseMessage("a link of block " + std::to_string(end.piece.block));
      if (end.piece == other)
        result.lowest.push_back(end);
      else
        result.links[b].push_back({end.piece.set, other.block, other.set});
    }
  });
  return result;
}

}  // namespace

PieceSets describePieces(const Assignment& assignment, int rank,
                         const std::vector<TrajectoryPieces>& pieces,
                         const DescribePiece& describe) {
  PieceSets sets;
  sets.facts.resize(pieces.size());
  for (std::size_t b = 0; b < pieces.size(); ++b) {
    const BlockId block = assignment.first(rank) + static_cast<BlockId>(b);
    sets.counts.push_back(static_cast<std::int64_t>(pieces[b].size()));
    for (std::size_t i = 0; i < pieces[b].size(); ++i) {
      RegionFacts piece;
      piece.cells = 1;
      piece.key = describe(b, pieces[b].piece(i), {block, static_cast<std::int64_t>(i)}, sets.ends);
      sets.facts[b].sets.push_back(piece);
    }
  }
  return sets;
}

NumberedPieces numberPieces(Transport& transport, const Assignment& assignment, PieceSets sets,
                            const UnionOptions& options) {
  NumberedPieces result;
  LinkedPieces linked = linkPieces(transport, assignment, std::move(sets.ends));
  const UnionResult united = uniteSets(transport, assignment, sets.counts, linked.links, options);
  result.aborted = united.aborted;
  if (result.aborted) return result;
  result.lowest = std::move(linked.lowest);
  result.numbered = numberRegions(transport, assignment, united.root, std::move(sets.facts), 0,
                                  RegionOrder::LeastKey);
  return result;
}

}  // namespace tributary::detail
