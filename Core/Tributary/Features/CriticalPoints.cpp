// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Features/CriticalPoints.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Base/NumberText.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Records.h"
#include "Tributary/Collective/Rendezvous.h"
#include "Tributary/Collective/Shares.h"
#include "Tributary/Components/Regions.h"
#include "Tributary/Features/detail/CriticalPointSearch.h"
#include "Tributary/Features/detail/PieceEnds.h"

namespace tributary {

using namespace detail;

namespace {

/// Keys that order tracks: those that continue by their numbers, then those that begin by their
/// lowest face.
RegionKey keyOfOld(std::int64_t track) {
  return {0, static_cast<std::uint64_t>(track), 0, 0};
}
RegionKey keyOfNew(const SpaceTimeFace& face) {
  const auto of = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
  // Four ids do not fit: a hash orders tetrahedra with two common points.
  return {
      1 + of(face.step) * 8 + of(face.upper), of(face.ids[0]), of(face.ids[1]),
      face.ids[3] == 0 ? of(face.ids[2]) : scramble(scramble(of(face.ids[2])) ^ of(face.ids[3]))};
}
bool isOld(const RegionKey& key) {
  return key[0] == 0;
}

}  // namespace

CriticalPointTracker::CriticalPointTracker(Transport& transport, const SimplicialSpace& space,
                                           CriticalPointOptions options)
    : transport_(transport),
      space_(space),
      options_(std::move(options)),
      current_(space.blocks()) {}

CriticalPointTracker::~CriticalPointTracker() = default;

CriticalPointStep CriticalPointTracker::addScalars(double time,
                                                   const std::vector<Span<const double>>& scalars) {
  checkTime(time);
  return add(makeField(step_ + 1, time, space_.gradient(transport_, scalars), scalars));
}

CriticalPointStep CriticalPointTracker::addVectors(double time,
                                                   const std::vector<Span<const double>>& vectors) {
  checkTime(time);
  return add(makeField(step_ + 1, time, space_.shareVectors(transport_, vectors), {}));
}

/// Collective.
/// @param scalars  copied
CriticalPointTracker::Field CriticalPointTracker::makeField(
    std::int64_t step, double time, std::vector<std::vector<double>> vectors,
    const std::vector<Span<const double>>& scalars) const {
  Field field;
  collectively(transport_, [&] {
    std::vector<std::vector<double>> kept;
    for (const auto& values : scalars) kept.emplace_back(values.begin(), values.end());
    field = std::make_unique<const FieldAtStep>(step, time, space_.dimension(), std::move(vectors),
                                                std::move(kept));
  });
  return field;
}

void CriticalPointTracker::checkTime(double time) {
  // The largest of all times, and minus the smallest.
  const auto times = allreduce(transport_, ReduceOp::Max, std::vector<double>{time, -time});
  if (!std::isfinite(times[0]) || times[0] != -times[1])
    throw Error(
        "critical points: the time of a step is not finite or differs between ranks; give the same "
        "finite time on all ranks");
  if (step_ >= 0 && !(time > last_->time)) {
    throw Error("critical points: a step at time " + numberText(time) + " follows a step at time " +
                numberText(last_->time) + "; add steps in order, each once");
  }
}

CriticalPointStep CriticalPointTracker::add(Field field) {
  CriticalPointStep step;
  PieceSets sets;
  collectively(transport_, [&] {
    if (step_ >= 0 && field->scalars.empty() != last_->scalars.empty() && space_.blocks() > 0)
      throw Error(
          "critical points: steps of a scalar field and of a vector field are mixed; use one "
          "tracker for each field");
    for (std::size_t b = 0; b < space_.blocks(); ++b) {
      step.pieces.push_back(
          step_ < 0 ? findCriticalPoints(space_, b, *field, options_.center)
                    : findPieces(space_, b, *last_, *field, options_.center, options_.parallelFor));
    }
    sets = describe(step.pieces, field->step);
  });
  last_ = std::move(field);
  ++step_;
  const NumberedPieces lines =
      numberPieces(transport_, space_.assignment(), std::move(sets), options_.linking);
  step.aborted = lines.aborted;
  if (step.aborted) return step;
  nameTracks(lines.numbered, step.pieces);
  collectively(transport_, [&] {
    findJoins(lines.lowest, step);
    keepCurrent(step.pieces);
  });
  return step;
}

PieceSets CriticalPointTracker::describe(const std::vector<TrajectoryPieces>& pieces,
                                         std::int64_t step) const {
  return describePieces(space_.assignment(), transport_.rank(), pieces,
                        [&](std::size_t b, Span<const CriticalPoint> points, const SetName& name,
                            std::vector<PieceEnd>& ends) {
                          RegionKey key = RegionFacts().key;
                          for (const CriticalPoint& point : points)
                            key = std::min(key, keyOfNew(point.face));
                          const bool closed = isClosed(points);
                          for (const std::size_t end : {std::size_t(0), points.size() - 1}) {
                            const SpaceTimeFace& face = points[end].face;
                            if (closed || (face.upper == 0 && face.step == step)) continue;
                            const std::int64_t track = face.upper > 0 ? -1 : trackOf(b, face);
                            if (face.upper > 0) ends.push_back({face, name});
                            if (track < 0) continue;
                            // Pieces that were found to be of one track before stay in it.
                            ends.push_back({endOfTrack(track), name});
                            key = std::min(key, keyOfOld(track));
                          }
                          return key;
                        });
}

void CriticalPointTracker::nameTracks(const NumberedRegions& lines,
                                      std::vector<TrajectoryPieces>& pieces) {
  std::int64_t old = 0;
  for (const RegionFacts& row : lines.table.regions) old += isOld(row.key);
  old = allreduce(transport_, ReduceOp::Sum, old);
  std::vector<std::int64_t> numbers;
  collectively(transport_, [&] {
    for (const auto& block : lines.ofSet)
      for (const RegionOfSet& set : block) numbers.push_back(set.number);
  });
  const auto tracks = askOwners<std::int64_t>(
      transport_, Shares{lines.table.total, transport_.size()}, numbers, [&](std::size_t place) {
        const RegionKey& key = lines.table.regions[place].key;
        const std::int64_t number = lines.table.first + static_cast<std::int64_t>(place);
        return isOld(key) ? static_cast<std::int64_t>(key[1]) : nextTrack_ + number - old;
      });
  std::size_t next = 0;
  for (TrajectoryPieces& block : pieces)
    for (std::int64_t& track : block.tracks) track = tracks[next++];
  nextTrack_ += lines.table.total - old;
}

void CriticalPointTracker::findJoins(const std::vector<PieceEnd>& lowest,
                                     CriticalPointStep& step) const {
  const BlockId first = space_.assignment().first(transport_.rank());
  for (const PieceEnd& end : lowest) {
    const auto b = static_cast<std::uint64_t>(end.piece.block - first);
    if (b >= step.pieces.size() ||
        static_cast<std::uint64_t>(end.piece.set) >= step.pieces[b].size())
      refuseMessage("a track of a piece that does not exist");
    const std::int64_t track = end.face.ids[0], into = step.pieces[b].tracks[index(end.piece.set)];
    if (into != track) step.joins.push_back({track, into});
  }
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
  writer.value(step_).value(nextTrack_).value(last_ ? last_->time : 0.0);
  std::vector<Current> all;
  for (const auto& block : current_) all.insert(all.end(), block.begin(), block.end());
  writer.range(all);
  return writer.take();
}

void CriticalPointTracker::resumeScalars(const std::vector<Bytes>& saved,
                                         const std::vector<Span<const double>>& scalars) {
  Saved state = read(saved);
  resume(std::move(state), space_.gradient(transport_, scalars), scalars);
}

void CriticalPointTracker::resumeVectors(const std::vector<Bytes>& saved,
                                         const std::vector<Span<const double>>& vectors) {
  Saved state = read(saved);
  resume(std::move(state), space_.shareVectors(transport_, vectors), {});
}

CriticalPointTracker::Saved CriticalPointTracker::read(const std::vector<Bytes>& saved) {
  Saved state;
  const auto differ = [] {
    return Error(
        "critical points: the saved parts are not those of one step; give the results of "
        "save() after one step");
  };
  collectively(transport_, [&] {
    if (step_ >= 0)
      throw Error("critical points: a tracker with steps cannot resume others; make a new tracker");
    for (const Bytes& bytes : saved) {
      Reader reader(bytes);
      const auto step = reader.value<std::int64_t>(), tracks = reader.value<std::int64_t>();
      const auto time = reader.value<double>();
      std::vector<Current> points;
      reader.rangeInto(points);
      // The numbers of later steps and tracks must not overflow.
      const auto isNumber = [](std::int64_t n) { return n >= 0 && n <= MostCounted; };
      const bool isValid = reader.atEnd() && isNumber(step) && isNumber(tracks) &&
                           std::isfinite(time) &&
                           std::all_of(points.begin(), points.end(), [&](const Current& one) {
                             return one.face.step == step && one.face.upper == 0 &&
                                    one.track >= 0 && one.track < tracks;
                           });
      if (!isValid)
        throw Error("critical points: a saved part is damaged; give the results of save()");
      if (state.step >= 0 && (step != state.step || tracks != state.tracks || time != state.time))
        throw differ();
      state.step = step;
      state.tracks = tracks;
      state.time = time;
      state.current.insert(state.current.end(), points.begin(), points.end());
    }
  });
  // A rank without parts learns the values from the other ranks.
  const bool knows = state.step >= 0;
  const std::int64_t step = allreduce(transport_, ReduceOp::Max, state.step);
  const std::int64_t tracks = allreduce(transport_, ReduceOp::Max, state.tracks);
  const double time = allreduce(transport_, ReduceOp::Max,
                                knows ? state.time : -std::numeric_limits<double>::infinity());
  collectively(transport_, [&] {
    if (step < 0)
      throw Error("critical points: no saved part was given; give the results of save()");
    if (knows && (step != state.step || tracks != state.tracks || time != state.time))
      throw differ();
  });
  state.step = step;
  state.tracks = tracks;
  state.time = time;
  return state;
}

void CriticalPointTracker::resume(Saved state, std::vector<std::vector<double>> vectors,
                                  const std::vector<Span<const double>>& scalars) {
  last_ = makeField(state.step, state.time, std::move(vectors), scalars);
  step_ = state.step;
  nextTrack_ = state.tracks;
  // Blocks ask for the tracks of the critical points that they find.
  struct Known {
    Current point;
    std::int64_t block;  // of this rank; -1 for a saved critical point
  };
  std::vector<Known> known;
  collectively(transport_, [&] {
    for (const Current& one : state.current) known.push_back({one, -1});
    for (std::size_t b = 0; b < space_.blocks(); ++b) {
      const TrajectoryPieces found = findCriticalPoints(space_, b, *last_, options_.center);
      for (const CriticalPoint& point : found.points)
        known.push_back({{point.face, -1}, static_cast<std::int64_t>(b)});
    }
  });
  const auto answers = rendezvous<Known>(
      transport_, std::move(known), [](const Known& k) { return hashOf(k.point.face); },
      [](const Known& x, const Known& y) {
        return x.point.face != y.point.face ? x.point.face < y.point.face : x.block < y.block;
      },
      [](const Known& x, const Known& y) { return x.point.face == y.point.face; },
      [](Span<Met<Known>> group, auto&& send) {
        if (group[0].record.block >= 0)
          return;  // the field of the step before was not finite there
        if (group.size() != 2 || group[1].record.block < 0) {
          throw Error(
              "critical points: the values of the last step are not those of the saved step; give "
              "the field of the saved step");
        }
        send(group[1].rank, Known{group[0].record.point, group[1].record.block});
      });
  collectively(transport_, [&] {
    for (const Known& answer : answers) {
      if (static_cast<std::uint64_t>(answer.block) >= current_.size())
        refuseMessage("a track of a block that does not exist");
      current_[index(answer.block)].push_back(answer.point);
    }
  });
  for (auto& block : current_) sortByFace(block);
}

}  // namespace tributary
