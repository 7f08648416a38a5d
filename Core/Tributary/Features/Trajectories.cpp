// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Features/Trajectories.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Shares.h"
#include "Tributary/Components/Regions.h"
#include "Tributary/Features/detail/PieceEnds.h"

namespace tributary {

using namespace detail;

namespace {

/// Puts the pieces of one trajectory behind each other.
std::vector<CriticalPoint> splice(std::vector<std::vector<CriticalPoint>> pieces) {
  // A point of the first step is the end of another piece, too, unless it is alone.
  if (pieces.size() > 1) {
    pieces.erase(std::remove_if(pieces.begin(), pieces.end(),
                                [](const auto& piece) { return piece.size() == 1; }),
                 pieces.end());
  }
  struct End {
    SpaceTimeFace face;
    std::size_t piece;
  };
  std::vector<End> ends;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    ends.push_back({pieces[i].front().face, i});
    ends.push_back({pieces[i].back().face, i});
  }
  std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) { return a.face < b.face; });
  // Begin where no other piece is, if there is such an end.
  std::size_t begin = 0;
  for (std::size_t i = ends.size(); i-- > 0;) {
    const bool shared = (i > 0 && ends[i - 1].face == ends[i].face) ||
                        (i + 1 < ends.size() && ends[i + 1].face == ends[i].face);
    if (!shared) begin = i;
  }
  std::vector<std::uint8_t> used(pieces.size(), 0);
  std::vector<CriticalPoint> line;
  SpaceTimeFace face = ends[begin].face;
  for (std::size_t left = pieces.size(); left > 0; --left) {
    auto next = std::lower_bound(ends.begin(), ends.end(), face,
                                 [](const End& e, const SpaceTimeFace& f) { return e.face < f; });
    while (next != ends.end() && next->face == face && used[next->piece]) ++next;
    if (next == ends.end() || next->face != face)
      throw Error("malformed message: pieces of a trajectory have no end in common");
    auto& piece = pieces[next->piece];
    used[next->piece] = 1;
    if (piece.front().face != face) reverse(piece);
    if (!line.empty()) line.pop_back();
    line.insert(line.end(), piece.begin(), piece.end());
    face = line.back().face;
  }
  putInOrder(line);
  return line;
}

/// Adds a trajectory with what its points have of the stretches on both sides.
void addTrajectory(const std::vector<CriticalPoint>& line, Trajectories& all) {
  const bool closed = isClosed(line);
  const std::size_t stretches = line.size() - 1;
  // Forwards or backwards in time; a stretch along space goes on as the one before.
  std::vector<int> direction(stretches, 0);
  int last = 0;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < stretches; ++i) {
      const double change = line[i + 1].time - line[i].time;
      if (change != 0) last = change > 0 ? 1 : -1;
      direction[i] = last;
    }
    if (!closed) break;
  }
  for (std::size_t i = 0; i < line.size(); ++i) {
    const CriticalPoint& p = line[i];
    TrackedCriticalPoint point{
        p.face, p.time, p.place, p.value, p.velocity, p.kind, TrajectoryEvent::None};
    const bool isEnd = i == 0 || i == stretches;
    if (stretches > 0 && (!isEnd || closed)) {
      const std::size_t after = i == stretches ? 0 : i, before = i == 0 ? stretches - 1 : i - 1;
      point.kind = line[after].kind;
      const int turn = direction[after] - direction[before];
      if (turn != 0 && direction[after] != 0 && direction[before] != 0) {
        point.event = turn > 0 ? TrajectoryEvent::Birth : TrajectoryEvent::Death;
        point.velocity.fill(std::numeric_limits<double>::quiet_NaN());
      } else {
        for (std::size_t a = 0; a < 3; ++a)
          point.velocity[a] = 0.5 * (line[before].velocity[a] + line[after].velocity[a]);
        if (line[before].kind != line[after].kind) point.event = TrajectoryEvent::KindChange;
      }
    }
    all.points.push_back(point);
  }
  all.offsets.push_back(all.points.size());
}

}  // namespace

Trajectories joinPieces(Transport& transport, const Assignment& assignment,
                        const std::vector<TrajectoryPieces>& pieces, const UnionOptions& options) {
  const BlockId first = assignment.first(transport.rank());
  collectively(transport, [&] {
    if (pieces.size() != index(assignment.count(transport.rank()))) {
      throw Error("trajectories: pieces of " + std::to_string(pieces.size()) +
                  " blocks given for " + std::to_string(assignment.count(transport.rank())) +
                  " local blocks");
    }
  });
  std::vector<PieceEnd> ends;
  std::vector<std::int64_t> sets;
  std::vector<BlockFacts> facts(pieces.size());
  for (std::size_t b = 0; b < pieces.size(); ++b) {
    sets.push_back(static_cast<std::int64_t>(pieces[b].size()));
    for (std::size_t i = 0; i < pieces[b].size(); ++i) {
      const auto points = pieces[b].piece(i);
      const SetName name{first + static_cast<BlockId>(b), static_cast<std::int64_t>(i)};
      if (!isClosed(points)) {
        ends.push_back({points[0].face, name});
        if (points.size() > 1) ends.push_back({points[points.size() - 1].face, name});
      }
      RegionFacts piece;
      piece.cells = 1;
      // Parts of a track that are not connected, as pieces are missing: the first one first.
      SpaceTimeFace least = points[0].face;
      for (const CriticalPoint& point : points) least = std::min(least, point.face);
      piece.key = {static_cast<std::uint64_t>(pieces[b].tracks[i]),
                   static_cast<std::uint64_t>(least.step), hashOf(least), 0};
      facts[b].sets.push_back(piece);
    }
  }
  const LinkedPieces linked = linkPieces(transport, assignment, std::move(ends));
  const UnionResult united = uniteSets(transport, assignment, sets, linked.links, options);
  Trajectories all;
  all.aborted = united.aborted;
  if (all.aborted) return all;
  const NumberedRegions numbered =
      numberRegions(transport, assignment, united.root, std::move(facts), 0, RegionOrder::LeastKey);
  all.total = numbered.table.total;
  all.first = numbered.table.first;
  for (const RegionFacts& row : numbered.table.regions)
    all.tracks.push_back(static_cast<std::int64_t>(row.key[0]));

  const Shares shares{all.total, transport.size()};
  std::vector<Writer> outgoing(index(transport.size()));
  for (std::size_t b = 0; b < pieces.size(); ++b) {
    for (std::size_t i = 0; i < pieces[b].size(); ++i) {
      const std::int64_t number = numbered.ofSet[b][i].number;
      outgoing[index(shares.ownerOf(number))].value(number).range(pieces[b].piece(i));
    }
  }
  std::vector<Bytes> messages;
  for (Writer& writer : outgoing) messages.push_back(writer.take());
  ErrorCollector errors;
  const std::vector<Bytes> received = exchangeBytes(transport, std::move(messages), errors);
  errors.attempt([&] {
    std::vector<std::vector<std::vector<CriticalPoint>>> parts(all.tracks.size());
    for (const Bytes& bytes : received) {
      for (Reader reader(bytes); !reader.atEnd();) {
        const auto at = static_cast<std::uint64_t>(reader.value<std::int64_t>() - all.first);
        auto points = reader.range<CriticalPoint>();
        if (at >= parts.size() || points.empty())
          throw Error("malformed message: a piece of a trajectory of another rank");
        parts[at].push_back(std::move(points));
      }
    }
    for (auto& part : parts) {
      if (part.empty()) throw Error("malformed message: a trajectory without pieces");
      addTrajectory(splice(std::move(part)), all);
    }
  });
  errors.agree(transport);
  return all;
}

}  // namespace tributary
