// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Features/CriticalPoints.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Rendezvous.h"
#include "Tributary/Collective/Shares.h"
#include "Tributary/Components/Regions.h"
#include "Tributary/Features/detail/PieceEnds.h"

namespace tributary {

using namespace detail;

namespace {

/// What tracks that go on come before, in the order of their numbers, and those that begin are put
/// in order by: their lowest face.
RegionKey keyOfOld(std::int64_t track) {
  return {0, static_cast<std::uint64_t>(track), 0, 0};
}
RegionKey keyOfNew(const SpaceTimeFace& face) {
  const auto of = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
  // Four ids do not fit: of tetrahedra that have two points in common a hash decides.
  return {
      1 + of(face.step) * 8 + of(face.upper), of(face.ids[0]), of(face.ids[1]),
      face.ids[3] == 0 ? of(face.ids[2]) : scramble(scramble(of(face.ids[2])) ^ of(face.ids[3]))};
}

/// The track of each number that this rank asks for: number i is on the rank that has row i.
std::vector<std::int64_t> tracksOf(Transport& transport, const std::vector<std::int64_t>& numbers,
                                   const RegionTable& table,
                                   const std::vector<std::int64_t>& trackOfRow) {
  const Shares shares{table.total, transport.size()};
  std::vector<Writer> questions(index(transport.size()));
  for (const std::int64_t number : numbers) questions[index(shares.ownerOf(number))].value(number);
  ErrorCollector errors;
  const auto exchange = [&](std::vector<Writer>& writers) {
    std::vector<Bytes> messages;
    for (Writer& writer : writers) messages.push_back(writer.take());
    return exchangeBytes(transport, std::move(messages), errors);
  };
  const std::vector<Bytes> asked = exchange(questions);
  std::vector<Writer> answers(asked.size());
  errors.attempt([&] {
    for (std::size_t rank = 0; rank < asked.size(); ++rank) {
      for (Reader reader(asked[rank]); !reader.atEnd();) {
        const auto row = static_cast<std::uint64_t>(reader.value<std::int64_t>() - table.first);
        if (row >= trackOfRow.size()) throw Error("malformed message: a track of another rank");
        answers[rank].value(trackOfRow[row]);
      }
    }
  });
  const std::vector<Bytes> answered = exchange(answers);
  std::vector<std::int64_t> tracks;
  errors.attempt([&] {
    std::vector<Reader> readers(answered.begin(), answered.end());
    for (const std::int64_t number : numbers)
      tracks.push_back(readers[index(shares.ownerOf(number))].value<std::int64_t>());
  });
  errors.agree(transport);
  return tracks;
}

}  // namespace

CriticalPointTracker::CriticalPointTracker(Transport& transport, const SimplicialSpace& space,
                                           CriticalPointOptions options)
    : transport_(transport),
      space_(space),
      options_(std::move(options)),
      current_(space.blocks()) {}

CriticalPointStep CriticalPointTracker::addScalars(double time,
                                                   const std::vector<Span<const double>>& scalars) {
  checkTime(time);
  auto vectors = space_.gradient(transport_, scalars);
  std::vector<std::vector<double>> kept;
  for (const auto& values : scalars) kept.emplace_back(values.begin(), values.end());
  return add({step_ + 1, time, space_.dimension(), std::move(vectors), std::move(kept)});
}

CriticalPointStep CriticalPointTracker::addVectors(double time,
                                                   const std::vector<Span<const double>>& vectors) {
  checkTime(time);
  return add({step_ + 1, time, space_.dimension(), space_.shareVectors(transport_, vectors), {}});
}

void CriticalPointTracker::checkTime(double time) {
  // The largest of all, and the least.
  const auto times = allreduce(transport_, ReduceOp::Max, std::vector<double>{time, -time});
  if (!std::isfinite(times[0]) || times[0] != -times[1])
    throw Error("critical points: the time of a step is not finite, or differs among ranks");
  if (step_ >= 0 && !(time > last_.time)) {
    throw Error("critical points: a step at time " + std::to_string(time) +
                " comes after one at time " + std::to_string(last_.time) +
                "; give steps in order, each once");
  }
}

CriticalPointStep CriticalPointTracker::add(FieldAtStep field) {
  CriticalPointStep step;
  collectively(transport_, [&] {
    if (step_ >= 0 && field.scalars.empty() != last_.scalars.empty() && space_.blocks() > 0)
      throw Error("critical points: steps of a scalar and of a vector field are mixed");
    for (std::size_t b = 0; b < space_.blocks(); ++b) {
      step.pieces.push_back(
          step_ < 0 ? findCriticalPoints(space_, b, field, options_.center)
                    : findPieces(space_, b, last_, field, options_.center, options_.parallelFor));
    }
  });
  last_ = std::move(field);
  ++step_;
  step.aborted = !nameTracks(step.pieces, step.joins);
  if (!step.aborted) keepCurrent(step.pieces);
  return step;
}

bool CriticalPointTracker::nameTracks(std::vector<TrajectoryPieces>& pieces,
                                      std::vector<TrackJoin>& joins) {
  const Assignment& assignment = space_.assignment();
  const BlockId first = assignment.first(transport_.rank());
  std::vector<PieceEnd> ends;
  std::vector<std::int64_t> sets;
  std::vector<BlockFacts> facts(pieces.size());
  for (std::size_t b = 0; b < pieces.size(); ++b) {
    sets.push_back(static_cast<std::int64_t>(pieces[b].size()));
    for (std::size_t i = 0; i < pieces[b].size(); ++i) {
      const auto points = pieces[b].piece(i);
      RegionFacts piece;
      piece.cells = 1;
      for (const CriticalPoint& point : points)
        piece.key = std::min(piece.key, keyOfNew(point.face));
      const bool closed = isClosed(points);
      for (const std::size_t end : {std::size_t(0), points.size() - 1}) {
        const SpaceTimeFace& face = points[end].face;
        if (closed || (face.upper == 0 && face.step == step_)) continue;
        const SetName name{first + static_cast<BlockId>(b), static_cast<std::int64_t>(i)};
        const std::int64_t track = face.upper > 0 ? -1 : trackOf(b, face);
        if (face.upper > 0) ends.push_back({face, name});
        if (track < 0) continue;
        // What was found to be one before stays one.
        ends.push_back({endOfTrack(track), name});
        piece.key = std::min(piece.key, keyOfOld(track));
      }
      facts[b].sets.push_back(piece);
    }
  }
  const LinkedPieces linked = linkPieces(transport_, assignment, std::move(ends));
  const UnionResult united =
      uniteSets(transport_, assignment, sets, linked.links, options_.linking);
  if (united.aborted) return false;
  const NumberedRegions numbered = numberRegions(transport_, assignment, united.root,
                                                 std::move(facts), 0, RegionOrder::LeastKey);

  std::int64_t old = 0;
  for (const RegionFacts& row : numbered.table.regions) old += row.key[0] == 0;
  old = allreduce(transport_, ReduceOp::Sum, old);
  std::vector<std::int64_t> trackOfRow;
  for (std::size_t row = 0; row < numbered.table.regions.size(); ++row) {
    const RegionKey& key = numbered.table.regions[row].key;
    const std::int64_t number = numbered.table.first + static_cast<std::int64_t>(row);
    trackOfRow.push_back(key[0] == 0 ? static_cast<std::int64_t>(key[1])
                                     : nextTrack_ + number - old);
  }
  nextTrack_ += numbered.table.total - old;
  std::vector<std::int64_t> numbers;
  for (const auto& block : numbered.ofSet)
    for (const RegionOfSet& set : block) numbers.push_back(set.number);
  const auto tracks = tracksOf(transport_, numbers, numbered.table, trackOfRow);
  std::size_t next = 0;
  for (TrajectoryPieces& block : pieces)
    for (std::int64_t& track : block.tracks) track = tracks[next++];
  collectively(transport_, [&] {
    for (const PieceEnd& end : linked.lowest) {
      const auto b = static_cast<std::uint64_t>(end.piece.block - first);
      if (b >= pieces.size() || static_cast<std::uint64_t>(end.piece.set) >= pieces[b].size())
        throw Error("malformed message: a track of a piece that does not exist");
      const std::int64_t track = end.face.ids[0], into = pieces[b].tracks[index(end.piece.set)];
      if (into != track) joins.push_back({track, into});
    }
  });
  return true;
}

void CriticalPointTracker::keepCurrent(const std::vector<TrajectoryPieces>& pieces) {
  for (std::size_t b = 0; b < pieces.size(); ++b) {
    current_[b].clear();
    for (std::size_t i = 0; i < pieces[b].size(); ++i) {
      const auto points = pieces[b].piece(i);
      for (const std::size_t end : {std::size_t(0), points.size() - 1}) {
        const SpaceTimeFace& face = points[end].face;
        if (face.upper == 0 && face.step == step_)
          current_[b].push_back({face, pieces[b].tracks[i]});
        if (points.size() == 1) break;
      }
    }
    sortByFace(current_[b]);
  }
}

void CriticalPointTracker::sortByFace(std::vector<Current>& list) {
  std::sort(list.begin(), list.end(),
            [](const Current& x, const Current& y) { return x.face < y.face; });
}

std::int64_t CriticalPointTracker::trackOf(std::size_t block, const SpaceTimeFace& face) const {
  const auto& list = current_[block];
  const auto found =
      std::lower_bound(list.begin(), list.end(), face,
                       [](const Current& x, const SpaceTimeFace& f) { return x.face < f; });
  return found != list.end() && found->face == face ? found->track : -1;
}

Bytes CriticalPointTracker::save() const {
  Writer writer;
  writer.value(step_).value(nextTrack_).value(last_.time);
  std::vector<Current> all;
  for (const auto& block : current_) all.insert(all.end(), block.begin(), block.end());
  writer.range(all);
  return writer.take();
}

void CriticalPointTracker::resumeScalars(const std::vector<Bytes>& saved,
                                         const std::vector<Span<const double>>& scalars) {
  Saved state = read(saved);
  auto vectors = space_.gradient(transport_, scalars);
  std::vector<std::vector<double>> kept;
  for (const auto& values : scalars) kept.emplace_back(values.begin(), values.end());
  resume(std::move(state), std::move(vectors), std::move(kept));
}

void CriticalPointTracker::resumeVectors(const std::vector<Bytes>& saved,
                                         const std::vector<Span<const double>>& vectors) {
  Saved state = read(saved);
  resume(std::move(state), space_.shareVectors(transport_, vectors), {});
}

CriticalPointTracker::Saved CriticalPointTracker::read(const std::vector<Bytes>& saved) {
  Saved state;
  const auto differ = [] { return Error("critical points: what was saved is not of one step"); };
  collectively(transport_, [&] {
    if (step_ >= 0) throw Error("critical points: a tracker that has steps cannot resume others");
    for (const Bytes& bytes : saved) {
      Reader reader(bytes);
      const auto step = reader.value<std::int64_t>(), tracks = reader.value<std::int64_t>();
      const auto time = reader.value<double>();
      if (state.step >= 0 && (step != state.step || tracks != state.tracks || time != state.time))
        throw differ();
      state.step = step;
      state.tracks = tracks;
      state.time = time;
      reader.rangeInto(state.current);
    }
  });
  // A rank that was given nothing learns it from others.
  const bool knows = state.step >= 0;
  const std::int64_t step = allreduce(transport_, ReduceOp::Max, state.step);
  const std::int64_t tracks = allreduce(transport_, ReduceOp::Max, state.tracks);
  const double time = allreduce(transport_, ReduceOp::Max,
                                knows ? state.time : -std::numeric_limits<double>::infinity());
  collectively(transport_, [&] {
    if (step < 0) throw Error("critical points: nothing was saved");
    if (knows && (step != state.step || tracks != state.tracks || time != state.time))
      throw differ();
  });
  state.step = step;
  state.tracks = tracks;
  state.time = time;
  return state;
}

void CriticalPointTracker::resume(Saved state, std::vector<std::vector<double>> vectors,
                                  std::vector<std::vector<double>> scalars) {
  last_ = FieldAtStep(state.step, state.time, space_.dimension(), std::move(vectors),
                      std::move(scalars));
  step_ = state.step;
  nextTrack_ = state.tracks;
  // Blocks ask for the tracks of what they find.
  struct Known {
    Current point;
    std::int64_t block;  // of this rank; -1: of what was saved
  };
  std::vector<Known> known;
  for (const Current& one : state.current) known.push_back({one, -1});
  for (std::size_t b = 0; b < space_.blocks(); ++b) {
    for (const CriticalPoint& point : findCriticalPoints(space_, b, last_, options_.center).points)
      known.push_back({{point.face, -1}, static_cast<std::int64_t>(b)});
  }
  const auto answers = rendezvous<Known>(
      transport_, std::move(known), [](const Known& k) { return hashOf(k.point.face); },
      [](const Known& x, const Known& y) {
        return x.point.face != y.point.face ? x.point.face < y.point.face : x.block < y.block;
      },
      [](const Known& x, const Known& y) { return x.point.face == y.point.face; },
      [](Span<Met<Known>> group, auto&& send) {
        if (group[0].record.block >= 0) return;  // the step before had no values there
        if (group.size() != 2 || group[1].record.block < 0) {
          throw Error(
              "critical points: the values of the last step are not those that it was saved with");
        }
        send(group[1].rank, Known{group[0].record.point, group[1].record.block});
      });
  collectively(transport_, [&] {
    for (const Known& answer : answers) {
      if (static_cast<std::uint64_t>(answer.block) >= current_.size())
        throw Error("malformed message: a track of a block that does not exist");
      current_[index(answer.block)].push_back(answer.point);
    }
  });
  for (auto& block : current_) sortByFace(block);
}

}  // namespace tributary
