// SPDX-License-Identifier: BSD-3-Clause
#include <vtkDataObject.h>
#include <vtkFieldData.h>
#include <vtkPolyData.h>
#include <vtkTable.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "Common/RunStatistics.h"
#include "Common/SmpFor.h"
#include "Common/VTKVersions.h"
#include "Features/CriticalDomain.h"
#include "Features/CriticalOutput.h"
#include "Features/FeatureTracking.h"
#include "Output/NamedArrays.h"
#include "Regions/RegionSettings.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Hash.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Rendezvous.h"
#include "Tributary/Features/CriticalPoints.h"
#include "Tributary/Features/Trajectories.h"

namespace tributary {
namespace {

/// Fractions of the progress bar when the mesh is known, and when lines between two steps are.
constexpr double MeshDone = 0.2;
constexpr double LinesDone = 0.7;

std::vector<Span<const double>> viewsOf(const std::vector<std::vector<double>>& values) {
  return {values.begin(), values.end()};
}

/// The step with which a piece was added.
std::int64_t stepOf(Span<const CriticalPoint> piece) {
  std::int64_t step = 0;
  for (const CriticalPoint& point : piece)
    step = std::max(step, point.face.step + (point.face.upper > 0 ? 1 : 0));
  return step;
}

/// The ids of all points of the local blocks, block by block.
std::vector<std::int64_t> idsOf(const SimplicialSpace& space) {
  std::vector<std::int64_t> ids;
  for (std::size_t b = 0; b < space.blocks(); ++b)
    for (std::int64_t p = 0; p < space.points(b); ++p) ids.push_back(space.idOf(b, p));
  return ids;
}

/// Adds pieces that were saved.
void readPieces(Reader& reader, TrajectoryPieces& pieces) {
  TrajectoryPieces part;
  reader.rangeInto(part.points);
  part.offsets = reader.range<std::size_t>();
  reader.rangeInto(part.tracks);
  const bool isWhole =
      part.offsets.size() == part.tracks.size() + 1 && part.offsets.front() == 0 &&
      part.offsets.back() == part.points.size() &&
      std::adjacent_find(part.offsets.begin(), part.offsets.end(),
                         std::greater_equal<std::size_t>()) == part.offsets.end() &&
      std::all_of(part.tracks.begin(), part.tracks.end(), [](std::int64_t t) { return t >= 0; });
  if (!isWhole) throw Error("the checkpoint has invalid pieces of trajectories");
  pieces.append(part);
}

/// The part of a moment that is the same on all ranks.
struct MomentHead {
  std::int64_t steps;
  std::int64_t mesh;
  std::int64_t isVector;

  bool operator==(const MomentHead& other) const {
    return steps == other.steps && mesh == other.mesh && isVector == other.isVector;
  }
};

/// The field of a step, by the ids of points.
struct KeptField {
  std::int64_t isVector = 0;
  std::vector<std::int64_t> ids;
  std::vector<double> values;  // one or three of each point

  std::size_t width() const { return isVector != 0 ? 3 : 1; }
};

/// The data after a step that the next step needs.
struct Moment {
  std::int64_t steps = 0;
  std::int64_t mesh = 0;  // its fingerprint
  std::vector<Bytes> tracker;
  KeptField field;
};

/// A point whose values a rank has or requests.
struct PointRequest {
  std::int64_t id;
  std::int64_t place;  // among the rank's points; -1 - place of a kept value
  double values[3];
};

/// Replies to the requests for one point. A point of several blocks has the values of the first.
template <class Send>
void replyTo(Span<Met<PointRequest>> group, Send&& send) {
  const Met<PointRequest>* first = nullptr;
  for (const auto& one : group) {
    if (one.record.place < 0 &&
        (!first || one.rank < first->rank ||
         (one.rank == first->rank && one.record.place > first->record.place)))
      first = &one;
  }
  for (const auto& one : group) {
    if (one.record.place < 0) continue;
    if (!first)
      throw Error(
          "a point of the mesh has no values in the last step; use a mesh that does not change");
    PointRequest answer = one.record;
    std::copy_n(first->record.values, 3, answer.values);
    send(one.rank, answer);
  }
}

/// Collective. The kept values of points, which may be on other ranks.
std::vector<double> fetchKept(Transport& transport, const std::vector<std::int64_t>& ids,
                              const KeptField& kept) {
  const std::size_t width = kept.width();
  std::vector<PointRequest> mine;
  collectively(transport, [&] {
    for (std::size_t i = 0; i < ids.size(); ++i)
      mine.push_back({ids[i], static_cast<std::int64_t>(i), {}});
    for (std::size_t i = 0; i < kept.ids.size(); ++i) {
      mine.push_back({kept.ids[i], -1 - static_cast<std::int64_t>(i), {}});
      std::copy_n(kept.values.data() + i * width, width, mine.back().values);
    }
  });
  const auto answers = rendezvous<PointRequest>(
      transport, std::move(mine),
      [](const PointRequest& r) { return scramble(static_cast<std::uint64_t>(r.id)); },
      [](const PointRequest& x, const PointRequest& y) { return x.id < y.id; },
      [](const PointRequest& x, const PointRequest& y) { return x.id == y.id; },
      [](Span<Met<PointRequest>> group, auto&& send) { replyTo(group, send); });
  std::vector<double> values;
  collectively(transport, [&] {
    if (answers.size() != ids.size()) refuseMessage("another number of values of points");
    values.resize(width * ids.size());
    for (const PointRequest& answer : answers) {
      if (answer.place < 0 || index(answer.place) >= ids.size())
        refuseMessage("a value of a point that does not exist");
      std::copy_n(answer.values, width, values.data() + width * index(answer.place));
    }
  });
  return values;
}

class CriticalTracking final : public FeatureTracking {
 public:
  void load(Transport& transport, const std::vector<Bytes>& parts) override;
  Bytes save() const override;
  void takeBack() override;
  void release() override { step_ = {}; }
  bool addStep(const RunContext& context, const FeatureTrackerSettings& settings,
               vtkDataObject* input, double time) override;
  bool write(const RunContext& context, const FeatureTrackerSettings& settings,
             vtkDataObject* input, const FeatureOutputs& outputs) override;

 private:
  /// The step that is being added.
  struct Step {
    std::vector<Leaf> leaves;
    std::unique_ptr<CriticalDomain> domain;
    std::vector<TrajectoryPieces> pieces;
    std::int64_t tracks = 0;
  };

  void checkMesh(Transport& transport, bool isVector) const;
  void warnOfOneLayer(const RunContext& context) const;
  std::vector<std::vector<double>> lastValues(Transport& transport) const;
  void resume(Transport& transport, CriticalPointTracker& tracker) const;

  Moment before_;  // the step before, for takeBack()
  Moment now_;
  TrajectoryPieces history_;  // of all steps on this rank
  Step step_;
};

/// Collective. Warns of a mesh that is one cell thick: the field of a plane has no critical points
/// in it.
void CriticalTracking::warnOfOneLayer(const RunContext& context) const {
  if (step_.domain->dimension() < 3) return;
  const int axis = axisOfOneLayer(context.transport, step_.leaves);
  if (axis >= 0 && context.transport.rank() == 0)
    context.warnOnce(
        std::string("There are no critical points, and the mesh is one cell thick along ") +
        "XYZ"[axis] +
        "; if the field is that of a plane, apply Slice, or Extract Subset with one layer of "
        "points, and track the critical points of its output.");
}

/// Collective. Throws Error if the mesh or the kind of field differs from that of the last step.
void CriticalTracking::checkMesh(Transport& transport, bool isVector) const {
  std::int64_t difference = 0;
  if (now_.steps > 0) {
    difference = now_.mesh != step_.domain->fingerprint   ? 1
                 : (now_.field.isVector != 0) != isVector ? 2
                                                          : 0;
  }
  difference = allreduce(transport, ReduceOp::Max, difference);
  if (difference == 1) {
    throw Error(
        "the mesh is not that of the last step; critical points are tracked on a mesh that does "
        "not change: resample the steps to one mesh, or track regions");
  }
  if (difference == 2)
    throw Error("the field is a scalar in one step and a vector in another one; choose one array");
}

/// Collective. The values of the last step on the blocks of this step.
std::vector<std::vector<double>> CriticalTracking::lastValues(Transport& transport) const {
  const KeptField& kept = now_.field;
  const SimplicialSpace& space = *step_.domain->space;
  std::vector<std::int64_t> ids;
  collectively(transport, [&] { ids = idsOf(space); });
  const bool differ = allreduce(transport, ReduceOp::Or, std::int64_t(ids != kept.ids)) != 0;
  std::vector<double> fetched;
  if (differ) fetched = fetchKept(transport, ids, kept);
  std::vector<std::vector<double>> ofBlocks;
  collectively(transport, [&] {
    auto next = (differ ? fetched : kept.values).begin();
    for (std::size_t b = 0; b < space.blocks(); ++b) {
      const auto count = static_cast<std::ptrdiff_t>(kept.width()) * space.points(b);
      ofBlocks.emplace_back(next, next + count);
      next += count;
    }
  });
  return ofBlocks;
}

/// Collective. Makes a new tracker continue after the last step.
void CriticalTracking::resume(Transport& transport, CriticalPointTracker& tracker) const {
  const auto last = lastValues(transport);
  if (now_.field.isVector)
    tracker.resumeVectors(now_.tracker, viewsOf(last));
  else
    tracker.resumeScalars(now_.tracker, viewsOf(last));
}

bool CriticalTracking::addStep(const RunContext& context, const FeatureTrackerSettings& settings,
                               vtkDataObject* input, double time) {
  Transport& transport = context.transport;
  collectively(transport, [&] { step_.leaves = leavesOf(input); });
  step_.domain = makeCriticalDomain(transport, step_.leaves);
  if (context.agreeOnAbort(!context.monitor(MeshDone))) return false;
  context.statistics.phase("MeshSeconds");
  const SimplicialSpace& space = *step_.domain->space;
  CriticalField field =
      findCriticalField(transport, *step_.domain, step_.leaves, settings.findCriticalField);
  checkMesh(transport, field.isVector);

  CriticalPointOptions options;
  options.center = settings.centerTolerance;
  options.linking = makeTunedUnionOptions(settings.regions, context, LinesDone);
  options.parallelFor = smpFor;
  CriticalPointTracker tracker(transport, space, options);
  if (now_.steps > 0) resume(transport, tracker);
  const auto values = viewsOf(field.values);
  CriticalPointStep step =
      field.isVector ? tracker.addVectors(time, values) : tracker.addScalars(time, values);
  if (context.agreeOnAbort(step.aborted)) return false;
  Moment now;
  collectively(transport, [&] {
    now.steps = tracker.steps();
    now.mesh = step_.domain->fingerprint;
    now.tracker.push_back(tracker.save());
    now.field.isVector = field.isVector;
    now.field.ids = idsOf(space);
    for (std::size_t b = 0; b < space.blocks(); ++b) {
      now.field.values.insert(now.field.values.end(), field.values[b].begin(),
                              field.values[b].end());
      history_.append(step.pieces[b]);
    }
  });
  before_ = std::move(now_);
  now_ = std::move(now);
  step_.pieces = std::move(step.pieces);
  step_.tracks = tracker.tracks();
  context.statistics.phase("TrackingSeconds");
  return true;
}

bool CriticalTracking::write(const RunContext& context, const FeatureTrackerSettings& settings,
                             vtkDataObject* input, const FeatureOutputs& outputs) {
  Transport& transport = context.transport;
  // The pieces of all steps are one block on each rank.
  const Assignment ranks(std::vector<std::int64_t>(index(transport.size()), 1));
  const Trajectories lines = joinPieces(transport, ranks, {history_},
                                        makeUnionOptions(settings.regions, context, LinesDone));
  if (context.agreeOnAbort(lines.aborted)) return false;
  const std::int64_t last = now_.steps - 1;
  std::int64_t points = 0;
  for (const TrajectoryPieces& block : step_.pieces)
    forPointsOfStep(block, last, [&](std::size_t, const CriticalPoint&) { ++points; });
  points = allreduce(transport, ReduceOp::Sum, points);
  if (points == 0) warnOfOneLayer(context);
  const CriticalOutput output(now_.field.isVector != 0, step_.domain->dimension());
  collectively(transport, [&] {
    shallowCopy(outputs.mesh, input);
    output.writeTrajectories(lines, outputs.trajectories);
    output.writePoints(step_.pieces, last, outputs.features);
    output.writeEvents(lines, outputs.events);
    output.writeEdges(lines, outputs.edges);
    addCounts(outputs.mesh->GetFieldData(), {{"NumberOfCriticalPoints", points},
                                             {"NumberOfTracks", step_.tracks},
                                             {"NumberOfTrajectories", lines.total}});
  });
  context.statistics.count("Blocks", static_cast<std::int64_t>(step_.domain->blocks.size()));
  describeTuning(settings.regions, context.statistics);
  context.statistics.phase("WritingSeconds");
  return true;
}

void CriticalTracking::takeBack() {
  const std::int64_t step = now_.steps - 1;
  TrajectoryPieces kept;
  for (std::size_t i = 0; i < history_.size(); ++i) {
    const auto piece = history_.piece(i);
    if (stepOf(piece) >= step) continue;
    kept.points.insert(kept.points.end(), piece.begin(), piece.end());
    kept.offsets.push_back(kept.points.size());
    kept.tracks.push_back(history_.tracks[i]);
  }
  history_ = std::move(kept);
  now_ = std::exchange(before_, {});
}

Bytes CriticalTracking::save() const {
  Writer writer;
  for (const Moment* moment : {&before_, &now_}) {
    writer.value(MomentHead{moment->steps, moment->mesh, moment->field.isVector});
    writer.value(static_cast<std::uint64_t>(moment->tracker.size()));
    for (const Bytes& part : moment->tracker) writer.range(part);
    writer.range(moment->field.ids).range(moment->field.values);
  }
  writer.range(history_.points).range(history_.offsets).range(history_.tracks);
  return writer.take();
}

void CriticalTracking::load(Transport& transport, const std::vector<Bytes>& parts) {
  std::array<std::vector<MomentHead>, 2> heads;
  before_ = {};
  now_ = {};
  history_ = {};
  const std::array<Moment*, 2> moments{&before_, &now_};
  collectively(transport, [&] {
    for (const Bytes& part : parts) {
      Reader reader(part);
      for (std::size_t m = 0; m < moments.size(); ++m) {
        heads[m].push_back(reader.value<MomentHead>());
        for (auto left = reader.value<std::uint64_t>(); left > 0; --left)
          reader.rangeInto(moments[m]->tracker.emplace_back());
        KeptField& field = moments[m]->field;
        reader.rangeInto(field.ids);
        reader.rangeInto(field.values);
        if (field.values.size() != field.ids.size() * (heads[m].back().isVector ? 3 : 1))
          throw Error("the checkpoint lacks values of some points");
      }
      readPieces(reader, history_);
    }
  });
  for (std::size_t m = 0; m < moments.size(); ++m) {
    const MomentHead head = common(transport, heads[m]);
    moments[m]->steps = head.steps;
    moments[m]->mesh = head.mesh;
    moments[m]->field.isVector = head.isVector;
  }
  checkSteps(before_.steps, now_.steps);
}

}  // namespace

std::unique_ptr<FeatureTracking> makeCriticalTracking() {
  return std::make_unique<CriticalTracking>();
}

}  // namespace tributary
