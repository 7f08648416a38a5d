// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Features/Trajectories.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Records.h"
#include "Tributary/Collective/Shares.h"
#include "Tributary/Components/Regions.h"
#include "Tributary/Features/detail/PieceEnds.h"

namespace tributary {

using namespace detail;

namespace {

/// Concatenates the pieces of one trajectory.
std::vector<CriticalPoint> splice(std::vector<std::vector<CriticalPoint>> pieces) {
  // A point of the first step is also the end of another piece, unless there are only such points:
  // cells that lie on each other have equal ones, of which one is kept.
  const auto points = std::stable_partition(pieces.begin(), pieces.end(),
                                            [](const auto& piece) { return piece.size() > 1; });
  pieces.erase(points == pieces.begin() ? points + 1 : points, pieces.end());
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
  // Begin at an end without another piece; a closed line has none.
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
      refuseMessage("pieces of a trajectory without a common end");
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

/// Adds a trajectory; velocity, kind and event of its points follow from the stretches on both
/// sides.
void addTrajectory(const std::vector<CriticalPoint>& line, Trajectories& all) {
  const bool closed = isClosed(line);
  const std::size_t stretches = line.size() - 1;
  // Forwards (1) or backwards (-1) in time; a stretch at constant time has the previous direction.
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
  PieceSets sets;
  collectively(transport, [&] {
    if (pieces.size() != index(assignment.count(transport.rank()))) {
      throw Error("trajectories: pieces of " + std::to_string(pieces.size()) +
                  " blocks given for " + std::to_string(assignment.count(transport.rank())) +
                  " local blocks; pass those of each block");
    }
    sets = describePieces(assignment, transport.rank(), pieces,
                          [&](std::size_t b, Span<const CriticalPoint> points, const SetName& name,
                              std::vector<PieceEnd>& ends) -> RegionKey {
                            if (!isClosed(points)) {
                              ends.push_back({points[0].face, name});
                              if (points.size() > 1)
                                ends.push_back({points[points.size() - 1].face, name});
                            }
                            // Components of one track, which missing pieces separate: the earliest
                            // one first.
                            SpaceTimeFace least = points[0].face;
                            for (const CriticalPoint& point : points)
                              least = std::min(least, point.face);
                            return {static_cast<std::uint64_t>(pieces[b].tracks[index(name.set)]),
                                    static_cast<std::uint64_t>(least.step), hashOf(least), 0};
                          });
  });
  const NumberedPieces lines = numberPieces(transport, assignment, std::move(sets), options);
  Trajectories all;
  all.aborted = lines.aborted;
  if (all.aborted) return all;
  const RegionTable& table = lines.numbered.table;
  all.total = table.total;
  all.first = table.first;
  const Shares shares{all.total, transport.size()};
  sendMessages(
      transport,
      [&](MessageOutbox& outbox) {
        for (const RegionFacts& row : table.regions)
          all.tracks.push_back(static_cast<std::int64_t>(row.key[0]));
        for (std::size_t b = 0; b < pieces.size(); ++b) {
          for (std::size_t i = 0; i < pieces[b].size(); ++i) {
            const std::int64_t number = lines.numbered.ofSet[b][i].number;
            outbox.to(shares.ownerOf(number)).value(number).range(pieces[b].piece(i));
          }
        }
      },
      [&](std::vector<Reader>& received) {
        std::vector<std::vector<std::vector<CriticalPoint>>> parts(all.tracks.size());
        readAll(received, [&](int, Reader& reader) {
          const auto at = static_cast<std::uint64_t>(reader.value<std::int64_t>() - all.first);
          auto points = reader.range<CriticalPoint>();
          if (at >= parts.size() || points.empty())
            refuseMessage("a piece of a trajectory of another rank");
          parts[at].push_back(std::move(points));
        });
        for (auto& part : parts) {
          if (part.empty()) refuseMessage("a trajectory without pieces");
          addTrajectory(splice(std::move(part)), all);
        }
      });
  return all;
}

}  // namespace tributary
