// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Features/detail/PieceEnds.h"

#include <string>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Rendezvous.h"

namespace tributary::detail {

LinkedPieces linkPieces(Transport& transport, const Assignment& assignment,
                        std::vector<PieceEnd> ends) {
  struct Joined {
    PieceEnd end;
    SetName other;  // the same piece: it is the lowest of a track
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
          throw Error("malformed message: a part of a trajectory in block " +
                      std::to_string(block) + " from rank " + std::to_string(met.rank));
        }
        const auto& lowest = group[0];
        const bool isTrack = lowest.record.face.step < 0;
        if (!isTrack && group.size() > 2) {
          throw Error(
              "critical points: more than two simplices have a facet; give each cell to one block, "
              "and cells that touch in whole facets only");
        }
        if (isTrack) send(lowest.rank, Joined{lowest.record, lowest.record.piece});
        for (const auto& met : group) {
          if (met.record.piece == lowest.record.piece) continue;
          send(lowest.rank, Joined{lowest.record, met.record.piece});
          send(met.rank, Joined{met.record, lowest.record.piece});
        }
      });
  LinkedPieces result;
  result.links.resize(static_cast<std::size_t>(assignment.count(transport.rank())));
  collectively(transport, [&] {
    for (const auto& [end, other] : joined) {
      const auto b =
          static_cast<std::uint64_t>(end.piece.block - assignment.first(transport.rank()));
      if (b >= result.links.size()) {
        throw Error("malformed message: a link of block " + std::to_string(end.piece.block));
      }
      if (end.piece == other) {
        result.lowest.push_back(end);
      } else {
        result.links[b].push_back({end.piece.set, other.block, other.set});
      }
    }
  });
  return result;
}

}  // namespace tributary::detail
