// SPDX-License-Identifier: BSD-3-Clause
#include "FlowMap/FlowMapRun.h"

#include <vtkCharArray.h>
#include <vtkDataSet.h>
#include <vtkDataSetAttributes.h>
#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkImageData.h>
#include <vtkInformation.h>
#include <vtkIntArray.h>
#include <vtkPointData.h>
#include <vtkPointSet.h>
#include <vtkPoints.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>

#include "Common/FreshArray.h"
#include "Common/Leaves.h"
#include "Common/RunStatistics.h"
#include "Common/SmpFor.h"
#include "Common/VTKVersions.h"
#include "Lines/LineTable.h"
#include "Lines/TraceReport.h"
#include "Time/DataTime.h"

#include "Tributary/Advection/FlowGradient.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Base/NumberText.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {
namespace {

constexpr double NaN = std::numeric_limits<double>::quiet_NaN();
/// Without a distance, that of auxiliary seeds is this share of the diagonal of the data.
constexpr double DefaultDistance = 1e-3;
/// Points whose deformation is computed between two checks for an abort.
constexpr std::int64_t PointsPerPiece = 65536;

/// The arrays of the output at a leaf, or at the grid.
struct MapArrays {
  vtkSmartPointer<vtkDoubleArray> map, exponent, time, tensor, direction;
  vtkSmartPointer<vtkIntArray> reason;
  vtkSmartPointer<vtkCharArray> mask;

  MapArrays(vtkIdType points, bool withTensor)
      : map(freshArray<vtkDoubleArray>("FlowMap", 3, points)),
        exponent(freshArray<vtkDoubleArray>("FTLE", 1, points)),
        time(freshArray<vtkDoubleArray>("EndTime", 1, points)),
        reason(freshArray<vtkIntArray>("ReasonForTermination", 1, points)),
        mask(freshArray<vtkCharArray>("vtkValidPointMask", 1, points)) {
    if (!withTensor) return;
    tensor = freshArray<vtkDoubleArray>("CauchyGreenTensor", 6, points);
    direction = freshArray<vtkDoubleArray>("StretchingDirection", 3, points);
  }

  void addTo(vtkDataSet* dataSet) const {
    vtkPointData* data = dataSet->GetPointData();
    for (vtkDataArray* array :
         std::initializer_list<vtkDataArray*>{map, exponent, tensor, direction, reason, time, mask})
      if (array) data->AddArray(array);
    data->SetActiveScalars("FTLE");
  }
};

/// The stretching at a point, if the particles around it have arrived.
std::optional<Stretching> stretchingAt(const MapSeeds& seeds, const MapParticles& particles,
                                       std::int64_t point) {
  struct Place {
    double from[3];
    MappedParticle particle;
  };
  const auto load = [&](std::int64_t seed, Place& place) -> const MappedParticle* {
    if (seed < 0) return nullptr;
    seeds.position(seed, place.from);
    place.particle = {place.from, particles.x[index(seed)].data(),
                      particles.reasons[index(seed)] == Reason::None};
    return &place.particle;
  };
  FlowGradient gradient;
  Place center, below, above;
  (void)load(seeds.seedAt(point), center);
  for (int axis = 0; axis < 3; ++axis) {
    if (!seeds.isAlong(axis)) continue;
    const auto [low, high] = seeds.neighbors(point, axis);
    if (!addColumn(gradient, axis, load(low, below), center.particle, load(high, above)))
      return std::nullopt;
  }
  return stretchingOf(gradient);
}

/// Moves the points of a data set that move within an interval to where they are in it.
/// @param data  a copy of `step`, which is at one end of the interval
/// @param pieces  of the interval
/// @param share  of the interval that has passed, in (0, 1)
void movePoints(vtkDataObject* data, vtkDataObject* step, const std::vector<FlowPiece>& pieces,
                double share) {
  const std::vector<Leaf> leaves = leavesOf(data), originals = leavesOf(step);
  for (std::size_t n = 0; n < leaves.size(); ++n) {
    const auto piece = std::find_if(pieces.begin(), pieces.end(), [&](const FlowPiece& one) {
      return one.moves &&
             (one.dataSet == originals[n].dataSet || one.laterDataSet == originals[n].dataSet);
    });
    auto* leaf = vtkPointSet::SafeDownCast(leaves[n].dataSet);
    if (piece == pieces.end() || !leaf ||
        piece->dataSet->GetNumberOfPoints() != piece->laterDataSet->GetNumberOfPoints())
      continue;
    const auto points = vtkSmartPointer<vtkPoints>::New();
    points->SetDataType(leaf->GetPoints()->GetDataType());
    points->SetNumberOfPoints(leaf->GetNumberOfPoints());
    double from[3], to[3];
    for (vtkIdType i = 0; i < leaf->GetNumberOfPoints(); ++i) {
      piece->dataSet->GetPoint(i, from);
      piece->laterDataSet->GetPoint(i, to);
      for (int a = 0; a < 3; ++a) from[a] += share * (to[a] - from[a]);
      points->SetPoint(i, from);
    }
    leaf->SetPoints(points);
  }
}

/// Removes all arrays but those that describe the mesh.
void keepMeshOnly(vtkDataObject* data) {
  forEachDataSet(data, [](vtkDataObject* leaf) {
    for (const int type : {vtkDataObject::POINT, vtkDataObject::CELL}) {
      vtkDataSetAttributes* attributes = leaf->GetAttributes(type);
      if (!attributes) continue;
      for (int i = attributes->GetNumberOfArrays() - 1; i >= 0; --i) {
        vtkAbstractArray* array = attributes->GetAbstractArray(i);
        const std::string name = array->GetName() ? array->GetName() : "";
        if (array != attributes->GetGlobalIds() && array != attributes->GetHigherOrderDegrees() &&
            array != attributes->GetRationalWeights() &&
            name != vtkDataSetAttributes::GhostArrayName())
          attributes->RemoveArray(i);
      }
    }
  });
}

}  // namespace

void FlowMapState::planFor(Span<const double> steps, double time, double duration, Source from,
                           PropertyList all) {
  if (!(from == source)) kept.clear();
  source = std::move(from);
  if (!(all == properties)) memory.choice.reset();
  properties = std::move(all);
  plan.plan(steps, time, duration, [&](double step) { return kept.has(step); });
  interval = 0;
  shape = nullptr;
  seeds.reset();
  particles = {};
  counts = {};
  CheckpointUse use = std::move(growing.checkpoints);
  growing = {};
  growing.checkpoints = std::move(use);
  growing.planToResume("");  // nor is there an error of a checkpoint
}

/// Collective. The data of the step that was executed.
StepData FlowMapRun::dataOf(vtkDataObject* input) {
  const std::optional<double> known = timeOfData(context_.transport, input);
  const FlowMapPlan& plan = state_.plan;
  if (plan.isSteady()) {
    if (known) state_.plan.setTime(*known);
    return {input, plan.begin()};
  }
  if (plan.end() == plan.begin() && !plan.isCut())
    throw Error("Integration Time " + numberText(settings_.duration) +
                " is lost in the rounding of the time " + numberText(plan.begin()) +
                "; set it to a longer time");
  const double requested = plan.next();
  if (plan.isReading() && known && *known != requested)
    throw Error("the input has no data of the time " + numberText(requested) +  // on all ranks
                " (its data are of " + numberText(*known) +
                "); the window of Integration Time needs several time steps: choose an input that "
                "can return to each of them, for example files");
  return {input, requested};
}

/// Local. Makes seeds at the points of a step, and beside them along some axes.
/// @param pieces  those of the step and the other one of the interval, or none
/// @param share  of the interval that has passed where the window begins
void FlowMapRun::makePointSeeds(const StepData& step, const std::array<bool, 3>& along,
                                double distance, const std::vector<FlowPiece>& pieces,
                                double share) {
  state_.shape = copyOfStep(step.data, false);
  keepMeshOnly(state_.shape);
  if (share > 0 && share < 1) movePoints(state_.shape, step.data, pieces, share);
  // The points of a window that grows are written again after later steps.
  if (settings_.grows && state_.growing.isOverwritten(step))
    state_.shape = copyOfStep(state_.shape, true);
  state_.distance = distance;
  state_.seeds = std::make_unique<PointSeeds>(state_.shape, along, distance);
}

/// Local. Places all particles at their seeds.
/// @param begin  the time of the seeds
void FlowMapRun::place(double begin) {
  const std::size_t count = index(state_.seeds->count());
  MapParticles& particles = state_.particles;
  requireMemory(MapParticles::memory(count));
  particles.x.resize(count);
  particles.time.assign(count, begin);
  particles.reasons.assign(count, Reason::None);
  for (std::size_t seed = 0; seed < count; ++seed) {
    if (seed % index(PointsPerPiece) == 0) throwIfInterrupted(context_.transport);
    state_.seeds->position(static_cast<std::int64_t>(seed), particles.x[seed].data());
  }
}

/// Collective. Makes the seeds of this rank.
/// @param earlier  of the first interval; may be `later`
/// @param begin  the time of the seeds
void FlowMapRun::makeSeeds(const FlowDomain& flow, const StepData& earlier, const StepData& later,
                           double begin, const int extent[6]) {
  // Where the window begins, or at the step before it in the direction of the trace.
  Box bounds = flow.bounds;
  if (flow.moves && settings_.duration < 0) bounds = laterBounds(context_.transport, flow.pieces);
  collectively(context_.transport, [&] {
    if (bounds.empty())
      throw Error("no cell with the vectors has finite coordinates; repair the points of the data");
    if (settings_.onGrid) {
      if (!settings_.useInputBounds)
        for (std::size_t a = 0; a < 3; ++a) {
          bounds.lo[a] = settings_.bounds[2 * a];
          bounds.hi[a] = settings_.bounds[2 * a + 1];
        }
      state_.grid = makeMapGrid(bounds, settings_.dimensions.data());
      state_.seeds = std::make_unique<GridSeeds>(state_.grid, extent, settings_.periodic.periodic);
    } else {
      std::array<bool, 3> along{};
      double squares = 0;
      for (std::size_t a = 0; a < 3; ++a) {
        const double width = bounds.hi[a] - bounds.lo[a];
        along[a] = width > 0;
        squares += width * width;
      }
      if (flow.dimension == 2 && along[0] && along[1] && along[2])
        throw Error(
            "the data are a surface that lies in no plane along the axes, and seeds beside its "
            "points are not on it; set Seeds to Resampled Grid, or choose data with volume cells");
      const bool isInterval = earlier.data != later.data;
      makePointSeeds(
          settings_.duration > 0 ? earlier : later, along,
          settings_.distance > 0 ? settings_.distance : DefaultDistance * std::sqrt(squares),
          flow.pieces, isInterval ? (begin - earlier.time) / (later.time - earlier.time) : 0);
    }
    place(begin);
  });
}

/// Local. Notes the ends of a batch of particles.
/// @param batch  their seeds
/// @param ends  in the same order
void FlowMapRun::enter(const std::vector<std::int64_t>& batch, const std::vector<LineEnd>& ends) {
  MapParticles& particles = state_.particles;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const std::size_t seed = index(batch[i]);
    const LineEnd& end = ends[i];
    std::copy_n(end.x, 3, particles.x[seed].data());
    particles.time[seed] = end.time;
    state_.counts.steps += std::max(end.points - 1, 0);
    if (end.reason == Reason::OutOfTime) continue;  // at the end of the interval
    // A particle that was in the data before has left them.
    particles.reasons[seed] = end.reason == Reason::NotInitialized && state_.interval > 0
                                  ? Reason::OutOfDomain
                                  : end.reason;
  }
}

/// Collective. Traces particles through an interval.
/// @param batch  the seeds of this rank's particles
/// @param most  the largest size of a batch on any rank
/// @return false after an abort
bool FlowMapRun::traceBatch(IntervalField& field, const std::vector<std::int64_t>& batch,
                            std::int64_t most) {
  Transport& transport = context_.transport;
  const Shares shares = idsOfParticles(most, transport.size());
  const std::int64_t first = shares.first(transport.rank());
  std::vector<Seed> seeds;
  TraceOptions options;
  collectively(transport, [&] {
    options = field.options;
    seeds.reserve(batch.size());
    for (const std::int64_t seed : batch) {
      const std::array<double, 3>& x = state_.particles.x[index(seed)];
      seeds.push_back({{x[0], x[1], x[2]},
                       first + static_cast<std::int64_t>(seeds.size()),
                       state_.particles.time[index(seed)]});
    }
  });
  const bool isTuned = settings_.autoTune && !onlyLocates_;
  if (!tuneInterval(context_, isTuned, field, seeds, options, state_.memory.choice)) return false;
  if (settings_.lendingMemory > 0 && !field.later)
    options.lending = lendingIn(field, settings_, shares);
  const TraceResult traced = traceInterval(transport, field, seeds, options).traced;
  if (context_.agreeOnAbort(traced.aborted)) return false;
  sendEnds(transport, shares, traced.ends, [&](const std::vector<LineEnd>& ends) {
    enter(batch, inOrder(ends, first, batch.size()));
  });
  ++state_.counts.batches;
  state_.counts.add(traced);
  return true;
}

/// Collective. Traces all particles through an interval, one batch after the other.
/// @param earlier  may be `later`, for a field that does not change
/// @param begin  the time of the seeds
/// @return false after an abort
bool FlowMapRun::trace(const StepData& earlier, const StepData& later, const TimeInterval& interval,
                       double begin, const int extent[6]) {
  Transport& transport = context_.transport;
  FlowMapState::Counts& counts = state_.counts;
  IntervalField field;
  makeIntervalField(transport, settings_, earlier, later, interval, state_.memory, field);
  counts.skippedTrees = field.skippedTrees;
  field.options.rules.record = false;
  field.options.forward = settings_.duration > 0;
  field.options.backward = !field.options.forward;
  if (!state_.seeds)
    makeSeeds(field.later && settings_.duration < 0 ? *field.later : *field.flow, earlier, later,
              begin, extent);
  std::vector<std::int64_t> active;
  collectively(transport, [&] {
    const std::vector<Reason>& reasons = state_.particles.reasons;
    for (std::size_t seed = 0; seed < reasons.size(); ++seed)
      if (reasons[seed] == Reason::None) active.push_back(static_cast<std::int64_t>(seed));
  });
  const std::int64_t all =
      allreduce(transport, ReduceOp::Max, static_cast<std::int64_t>(active.size()));
  const std::int64_t most = std::min(all, settings_.seedsPerBatch);
  for (std::int64_t done = 0; done < all; done += most) {
    std::vector<std::int64_t> batch;
    collectively(transport, [&] {
      const std::int64_t here = static_cast<std::int64_t>(active.size());
      const std::int64_t from = std::min(done, here), to = std::min(done + most, here);
      batch.assign(active.begin() + from, active.begin() + to);
      field.options.monitor = [this, done, most, all](double share) {
        const double part = (static_cast<double>(done) +
                             static_cast<double>(most) * std::min(1.0, std::max(0.0, share))) /
                            static_cast<double>(all);
        return context_.monitor(std::min(1.0, (done_ + std::min(1.0, part)) / all_));
      };
    });
    if (!traceBatch(field, batch, most)) return false;
  }
  state_.memory.rates = field.lent.rates;
  counts.axes = field.flow->periodic;
  counts.domainBytes = std::max(counts.domainBytes, fieldMemory(field));
  ++counts.intervals;
  counts.changes += field.later != nullptr;
  return true;
}

/// Collective. Traces through the intervals whose steps are there.
/// @param read  the step that was executed
/// @return false after an abort
bool FlowMapRun::advance(const StepData& read, const int extent[6]) {
  const FlowMapPlan& plan = state_.plan;
  const double duration = settings_.duration;
  if (plan.isSteady())  // in times from the beginning of the window
    return trace(read, read, {std::min(duration, 0.0), std::max(duration, 0.0), duration}, 0,
                 extent);
  if (plan.isReading())
    collectively(context_.transport, [&] {
      state_.kept.add(read.time, copyOfStep(read.data, read.time == plan.steps().back()));
    });
  const std::vector<double>& path = plan.path();
  all_ = std::max(1.0, static_cast<double>(path.size()) - 1);
  if (path.size() == 1) {  // no step follows
    const StepData step{state_.kept.use(path[0]), path[0]};
    const double other = afterStep(step.time);
    return trace(step, step, {step.time, other, step.time}, step.time, extent);
  }
  for (; state_.interval + 1 < path.size(); ++state_.interval) {
    const double from = path[state_.interval], to = path[state_.interval + 1];
    if (!state_.kept.has(from) || !state_.kept.has(to)) break;
    const StepData here{state_.kept.use(from), from}, there{state_.kept.use(to), to};
    const bool isForward = from < to;
    const bool isLast = state_.interval + 2 == path.size();
    const TimeInterval interval{std::min(from, to), std::max(from, to), isLast ? plan.end() : to};
    done_ = static_cast<double>(state_.interval);
    if (!trace(isForward ? here : there, isForward ? there : here, interval, plan.begin(), extent))
      return false;
    collectively(context_.transport, [&] {
      const auto rest = path.begin() + static_cast<std::ptrdiff_t>(state_.interval) + 1;
      state_.kept.trim(settings_.keptSteps, std::set<double>(rest, path.end()));
    });
  }
  return true;
}

MapWindow FlowMapRun::window() const {
  const FlowMapPlan& plan = state_.plan;
  MapWindow window;
  window.time = window.begin = plan.begin();
  window.end = plan.end();
  // That of a steady flow is not rounded, so that it does not depend on the time of the window.
  window.traced = plan.isSteady() ? settings_.duration : plan.end() - plan.begin();
  if (plan.isSteady()) window.shift = plan.begin();
  window.isCut = plan.isCut();
  window.reads = plan.reads();
  window.reused = plan.path().size() - plan.reads();
  window.kept = state_.kept.size();
  return window;
}

/// Local. Writes the arrays of this rank.
/// @param output  with the points
/// @return the number of points at which the exponent is not defined although the particle arrived
std::int64_t FlowMapRun::writeArrays(const MapWindow& window, vtkDataObject* output) const {
  const MapSeeds& seeds = *state_.seeds;
  const MapParticles& particles = state_.particles;
  std::int64_t first = 0, undefined = 0;
  for (const Leaf& leaf : leavesOf(output)) {
    const vtkIdType points = leaf.points();
    const MapArrays arrays(points, settings_.withTensor);
    smpForPieces(context_.transport, points, PointsPerPiece, [&](auto begin, auto end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::size_t seed = index(seeds.seedAt(first + i));
        const Reason reason = particles.reasons[seed];
        arrays.map->SetTypedTuple(i, particles.x[seed].data());
        arrays.time->SetValue(i, particles.time[seed] + window.shift);
        arrays.reason->SetValue(
            i, static_cast<int>(reason == Reason::None ? Reason::OutOfTime : reason));
        const std::optional<Stretching> found = stretchingAt(seeds, particles, first + i);
        const double exponent = found ? lyapunovExponent(found->largest, window.traced) : NaN;
        const bool isValid = std::isfinite(exponent);
        arrays.exponent->SetValue(i, isValid ? exponent : NaN);
        arrays.mask->SetValue(i, isValid);
        if (!settings_.withTensor) continue;
        constexpr double None[6] = {NaN, NaN, NaN, NaN, NaN, NaN};
        arrays.tensor->SetTypedTuple(i, found ? found->tensor : None);
        arrays.direction->SetTypedTuple(i, found ? found->direction : None);
      }
    });
    for (vtkIdType i = 0; i < points; ++i)
      undefined += arrays.mask->GetValue(i) == 0 &&
                   arrays.reason->GetValue(i) == static_cast<int>(Reason::OutOfTime);
    arrays.addTo(leaf.dataSet);
    first += points;
  }
  return undefined;
}

/// Local. What became of the particles of the points of this rank.
FlowMapRun::Outcome FlowMapRun::outcome() const {
  Outcome outcome;
  for (std::int64_t p = 0; p < state_.seeds->points(); ++p) {
    const Reason reason = state_.particles.reasons[index(state_.seeds->seedAt(p))];
    outcome.inside += reason != Reason::NotInitialized;
    outcome.arrived += reason == Reason::None;
    outcome.unexpected += reason == Reason::UnexpectedValue;
    outcome.outOfSteps += reason == Reason::OutOfSteps;
  }
  return outcome;
}

/// Collective. Shows the warnings of all ranks, on one of them.
void FlowMapRun::warn(const MapWindow& window, const Outcome& outcome) {
  const std::vector<std::int64_t> sums =
      allreduce(context_.transport, ReduceOp::Sum,
                std::vector<std::int64_t>{outcome.inside, outcome.arrived, outcome.unexpected,
                                          outcome.outOfSteps, state_.counts.skippedTrees,
                                          state_.seeds->points()});
  if (context_.transport.rank() != 0) return;
  if (sums[4] > 0) warnOfTrees(context_);
  const GrowingSteps& growing = state_.growing;
  const bool isSingle = growing.isSingle && growing.plan.added().size() == 1;
  if (settings_.grows && (isSingle || !hasTime_))
    context_.warn(
        std::string("The input has ") + (isSingle ? "a single time step" : "no time") +
        ", so particles stay at their seeds, and FTLE is not defined; choose an input with "
        "several time steps, or set Window to From Current Time for a steady flow.");
  if (window.isCut)
    context_.warn(
        "The time steps of the input end at " + numberText(window.end) +
        ", before the window of Integration Time " + numberText(settings_.duration) + " from " +
        numberText(window.begin) + "; particles stop there" +
        (window.end == window.begin ? std::string(", at their seeds, and FTLE is not defined")
                                    : ", and FTLE is divided by the shorter time") +
        ". Choose a time further from the " + (settings_.duration > 0 ? "last" : "first") +
        " time step, or a shorter Integration Time.");
  if (sums[5] > 0 && sums[0] == 0)
    context_.warn(
        "There is no flow map: all seeds lie outside of the cells with the vectors; move the seeds "
        "into the data.");
  else if (sums[5] > 0 && sums[1] + sums[2] + sums[3] == 0)
    context_.warn(
        "There is no FTLE: no particle has reached the end of the window; set a shorter "
        "Integration Time, or see ReasonForTermination.");
  if (sums[2] > 0)
    context_.warn(std::to_string(sums[2]) +
                  " particles end where the vectors are not finite numbers (ReasonForTermination " +
                  std::to_string(static_cast<int>(Reason::UnexpectedValue)) +
                  "); replace these values to continue them.");
  if (sums[3] > 0)
    context_.warn(std::to_string(sums[3]) +
                  " particles end after Maximum Steps (ReasonForTermination " +
                  std::to_string(static_cast<int>(Reason::OutOfSteps)) +
                  "), before the end of the window; increase it.");
}

/// @param undefined  see writeArrays()
void FlowMapRun::addStatistics(const MapWindow& window, const Outcome& outcome,
                               std::int64_t undefined) {
  RunStatistics& statistics = context_.statistics;
  const FlowMapState::Counts& counts = state_.counts;
  const MapParticles& particles = state_.particles;
  const std::size_t bytes = particles.x.capacity() * sizeof particles.x[0] +
                            particles.time.capacity() * sizeof(double) +
                            particles.reasons.capacity() * sizeof(Reason);
  statistics.amount("Duration", window.traced);
  statistics.count("Points", state_.seeds->points());
  statistics.count("Seeds", state_.seeds->count());
  statistics.count("Arrived", outcome.arrived);
  statistics.count("OutsideSeeds", state_.seeds->points() - outcome.inside);
  statistics.count("UndefinedPoints", undefined);
  statistics.count("SeedBytes", static_cast<std::int64_t>(bytes));
  statistics.count("StepsRead", static_cast<std::int64_t>(window.reads));
  statistics.count("StepsReused", static_cast<std::int64_t>(window.reused));
  statistics.count("StepsKept", static_cast<std::int64_t>(window.kept));
  statistics.count("SeedBatches", counts.batches);
  statistics.count("Steps", counts.steps);
  counts.addTo(statistics, settings_.autoTune, state_.memory.choice);
  statistics.phase("OutputSeconds");
}

/// Collective. Writes the output of this rank, statistics and warnings.
void FlowMapRun::write(const MapWindow& window, const int extent[6], vtkDataObject* output) {
  std::int64_t undefined = 0;
  collectively(context_.transport, [&] {
    if (settings_.onGrid) {
      auto* image = vtkImageData::SafeDownCast(output);
      if (!image) throw Error(ErrorKind::Internal, "the output is not an image");
      image->Initialize();
      image->SetOrigin(state_.grid.origin.data());
      image->SetSpacing(state_.grid.spacing.data());
      if (state_.seeds->points() > 0) image->SetExtent(const_cast<int*>(extent));
      if (image->GetNumberOfPoints() != state_.seeds->points())
        throw Error(ErrorKind::Internal, "the extent of the output changed within a window");
    } else {
      shallowCopy(output, state_.shape);
      output->GetFieldData()->Initialize();
    }
    undefined = writeArrays(window, output);
    output->GetInformation()->Set(vtkDataObject::DATA_TIME_STEP(), window.time);
  });
  const Outcome outcome = this->outcome();
  addStatistics(window, outcome, undefined);
  warn(window, outcome);
}

bool FlowMapRun::executeWindow(vtkDataObject* input, const int extent[6], vtkDataObject* output) {
  const StepData read = dataOf(input);
  if (!advance(read, extent)) return false;
  isUnderWay_ = state_.plan.advance();
  if (isUnderWay_) return true;
  state_.kept.trim(settings_.keptSteps);
  write(window(), extent, output);
  state_.seeds.reset();
  state_.particles = {};
  state_.shape = nullptr;
  return true;
}

bool FlowMapRun::execute(vtkDataObject* input, const int extent[6], vtkDataObject* output) {
  const bool isWhole = settings_.grows ? executeGrowing(input, extent, output)
                                       : executeWindow(input, extent, output);
  if (isWhole && !isUnderWay_ && !settings_.keepDomain) state_.memory.forgetMeshes();
  return isWhole;
}

}  // namespace tributary
