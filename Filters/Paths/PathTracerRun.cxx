// SPDX-License-Identifier: BSD-3-Clause
#include "Paths/PathTracerRun.h"

#include <vtkDoubleArray.h>
#include <vtkInformation.h>
#include <vtkPolyData.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <utility>

#include "Common/FreshArray.h"
#include "Common/Require.h"
#include "Common/RunStatistics.h"
#include "Lines/Crossings/EventArrays.h"
#include "Lines/LineAssembly.h"
#include "Lines/LineTable.h"
#include "Lines/PointArrays.h"
#include "Lines/PointEvaluator.h"
#include "Lines/TraceReport.h"
#include "Paths/ChangedPoints.h"
#include "Paths/IntervalTrace.h"
#include "Paths/PathCheckpoint.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Base/NumberText.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Records.h"

namespace tributary {
namespace {

using Task = PathPlan::Task;

}  // namespace

void PathTracerState::planFor(Span<const double> steps, double time, Basis basis,
                              const std::vector<vtkMTimeType>& times, bool isWhole) {
  PathSteps::planFor(steps, time, std::move(basis), times, isWhole);
  counts = {};
  if (surface) surface->isReused = true;
}

void PathTracerState::planToResume(const std::string& directory) {
  using Fit = CheckpointUse::Fit;
  checkpoints.find(plan.added().empty() ? directory : "", requested.properties.packed(),
                   [&](const CheckpointIndex& index) {
                     const SavedSteps saved = loadSteps(index.common);
                     return plan.planToResume(saved.added, saved.passedOver) ? Fit::Resumes
                                                                             : Fit::OtherSteps;
                   });
}

/// Collective. Loads the checkpoint that was found.
void PathTracerRun::resume() {
  state_.checkpoints.load(
      context_.transport, settings_.checkpoints.directory, [&](const std::vector<Bytes>& parts) {
        SavedPaths saved = loadPaths(context_.transport, state_.checkpoints.found()->common, parts);
        state_.history = std::move(saved.history);
        state_.seeds = std::move(saved.seeds);
      });
  state_.begun = state_.requested;
}

/// Whether particles are injected at the step that is added.
bool PathTracerRun::injectsAt(double time) const {
  if (time < settings_.injectionStart || time > settings_.injectionEnd ||
      time >= settings_.terminationTime)
    return false;
  const PathHistory& history = state_.history;
  const auto step = static_cast<std::int64_t>(history.segments.size());
  return history.injections.empty() ||
         (settings_.reinjection > 0 &&
          (step - history.injections.front().step) % settings_.reinjection == 0);
}

/// Collective. Adds the particles that are injected at a step.
void PathTracerRun::inject(vtkDataObject* source, double time, std::vector<Traced>& particles) {
  PathHistory& history = state_.history;
  if (settings_.staticSeeds && !state_.seeds)
    state_.seeds = makePathSeeds(context_.transport, source);
  if (!injectsAt(time)) return;
  const PathSeeds seeds =
      settings_.staticSeeds ? *state_.seeds : makePathSeeds(context_.transport, source);
  collectively(context_.transport, [&] {
    const std::int64_t before = history.seedsSoFar();
    const auto injection = static_cast<std::int32_t>(history.injections.size());
    history.injections.push_back({static_cast<std::int64_t>(history.segments.size()), seeds.total});
    particles.reserve(particles.size() + seeds.seeds.size());
    for (const PathSeed& seed : seeds.seeds) {
      Traced& traced = particles.emplace_back();
      traced.isNew = true;
      traced.particle = {before + seed.place, seed.place, seed.shown, injection, time};
      std::copy_n(seed.x, 3, traced.before.x);
      traced.before.time = time;
    }
  });
}

/// Whether a trace may continue, with the share of the interval that is done.
bool PathTracerRun::monitor(double share) const {
  const PathPlan& plan = state_.plan;
  const auto done = static_cast<double>(plan.next() - plan.first());
  const auto all = static_cast<double>(plan.goal() - plan.first() + 1);
  return context_.monitor((done + std::min(1.0, std::max(0.0, share))) / all);
}

/// Local. Makes the entries of a segment from the ends of particles, and places for their points.
/// @param firstSeed  the id of the first particle of this rank in the trace
LineTable PathTracerRun::enter(std::vector<Traced>& particles, double stop, std::int64_t firstSeed,
                               PathSegment& segment) {
  PathHistory& history = state_.history;
  LineTable table;
  table.firstSeed = firstSeed;
  table.halves.resize(2 * particles.size());
  segment.entries.reserve(particles.size());
  for (std::size_t p = 0; p < particles.size(); ++p) {
    Traced& traced = particles[p];
    const LineEnd& end = traced.end;
    if (traced.isNew && end.reason == Reason::NotInitialized) continue;
    if (traced.isNew) {
      traced.before.particle = static_cast<std::int64_t>(history.particles.size());
      history.particles.push_back(traced.particle);
    }
    // A particle that is continued has its first point already.
    const bool skips = !traced.isNew && end.points > 0;
    // Recorded are all points, or the last one if the particle is at the end of the interval.
    std::int32_t missing = int(skips);
    if (!recordsSteps()) {
      const bool hasLast = end.reason == Reason::OutOfTime && !settings_.crossingsOnly;
      missing = std::max(missing, end.points - int(hasLast));
    }
    HalfLine& half = table.halves[2 * p];
    half.points = end.points;
    half.skipped = missing;
    half.base = table.points - missing;
    half.isOutput = end.points > missing;
    PathEntry entry = traced.before;
    entry.first = table.points;
    entry.points = end.points - missing;
    entry.reason = end.reason == Reason::NotInitialized ? Reason::OutOfDomain : end.reason;
    if (end.reason == Reason::OutOfTime && stop < settings_.terminationTime)
      entry.reason = Reason::None;
    entry.event = static_cast<std::int8_t>(end.event);
    entry.target = end.target;
    std::copy_n(end.x, 3, entry.x);
    entry.time = end.time;
    entry.block = end.block;
    entry.cell = end.cell;
    segment.entries.push_back(entry);
    table.points += entry.points;
  }
  return table;
}

/// Local. Makes the entries of the crossings in an interval, and places for these. Call it after
/// enter().
LineTable PathTracerRun::enterCrossings(const std::vector<Traced>& particles,
                                        std::int64_t firstSeed, PathSegment& segment) const {
  LineTable places;
  places.hasSurface = hasSurface();
  places.firstSeed = firstSeed;
  places.halves.resize(2 * particles.size());
  for (std::size_t p = 0; p < particles.size(); ++p) {
    const Traced& traced = particles[p];
    const LineEnd& end = traced.end;
    if (traced.isNew && end.reason == Reason::NotInitialized) continue;
    const std::int64_t before = traced.progress.crossings();
    const std::int64_t crossings = end.crossings - before;
    if (crossings < 0)
      refuseMessage(std::to_string(end.crossings) + " crossings of a particle after " +
                    std::to_string(before));
    segment.progress.push_back(traced.progress);
    segment.progress.back().length = end.length;
    HalfLine& half = places.halves[2 * p];
    half.points = end.crossings;
    half.skipped = static_cast<std::int32_t>(before);
    half.base = places.points - before;
    half.isOutput = crossings > 0;
    if (crossings == 0) continue;
    PathEntry& entry = segment.crossings.entries.emplace_back();
    entry.particle = traced.before.particle;
    entry.first = places.points;
    entry.points = crossings;
    places.points += crossings;
  }
  return places;
}

/// Local. Adds the crossings of this rank's particles to their segment, without what all its points
/// have. @pre addPoints()
void PathTracerRun::addCrossings(const PointEvaluator& evaluator, const CrossingList& crossings,
                                 PathSegment& segment) {
  PathPoints& points = segment.crossings;
  points.list = segment.list;
  const auto add = [&](PointField field, const vtkSmartPointer<vtkDataArray>& array) {
    field.type = array->GetDataType();
    field.bytes = index(field.components * array->GetDataTypeSize());
    points.fields.push_back(std::move(field));
    points.arrays.push_back(array);
  };
  const std::vector<PointField>& fields = evaluator.fields();
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const bool isPosition = fields[f].kind == PointField::Kind::Position;
    if (isOutput(fields[f]))
      add(fields[f], isPosition ? vtkSmartPointer<vtkDataArray>(crossings.points)
                                : crossings.evaluated->arrays[f]);
  }
  for (vtkDataArray* array : std::initializer_list<vtkDataArray*>{
           crossings.length, crossings.event, crossings.number, crossings.target})
    if (array) add({PointField::Kind::Crossing, array->GetName(), 0, 1, 0, 0}, array);

  auto crossed = points.entries.begin();
  for (std::size_t e = 0; e < segment.entries.size(); ++e) {
    if (crossed == points.entries.end()) break;
    if (crossed->particle != segment.entries[e].particle) continue;
    for (std::int64_t i = crossed->first; i < crossed->first + crossed->points; ++i) {
      segment.progress[e].count[crossings.event->GetValue(i)] = crossings.number->GetValue(i);
    }
    ++crossed;
  }
}

/// What a particle has done until the beginning of a trace.
LineProgress PathTracerRun::progressOf(const Traced& traced) const {
  LineProgress progress;
  progress.begun = traced.isNew ? traced.particle.injected
                                : state_.history.particles[index(traced.before.particle)].injected;
  progress.length = traced.progress.length;
  std::copy_n(traced.progress.count, MostEvents, progress.count);
  return progress;
}

/// Local. Adds the array Rotation: the angular velocity integrated from the injection by the
/// trapezoidal rule.
/// @param begin  the time at which particles are continued
void PathTracerRun::addRotation(PathSegment& segment, double begin) const {
  const auto arrayOf = [&](PointField::Kind kind) {
    return vtkDoubleArray::FastDownCast(segment.arrays[fieldOf(segment.fields, kind)]);
  };
  vtkDoubleArray* times = arrayOf(PointField::Kind::Time);
  vtkDoubleArray* velocities = arrayOf(PointField::Kind::AngularVelocity);
  auto rotation = freshArray<vtkDoubleArray>("Rotation", 1, times->GetNumberOfTuples());
  for (PathEntry& entry : segment.entries) {
    const double injected = state_.history.particles[index(entry.particle)].injected;
    double before = begin;
    for (std::int64_t i = entry.first; i < entry.first + entry.points; ++i) {
      const double time = times->GetValue(i), velocity = velocities->GetValue(i);
      if (time > injected)  // not where the particle begins
        entry.rotation += (entry.angularVelocity + velocity) / 2 * (time - before);
      entry.angularVelocity = velocity;
      before = time;
      rotation->SetValue(i, entry.rotation);
    }
  }
  segment.fields.push_back(
      {PointField::Kind::AngularVelocity, "Rotation", VTK_DOUBLE, 1, sizeof(double), 0});
  segment.arrays.push_back(rotation);
}

/// The field of an interval, and what evaluates the points of a trace through it.
struct PathTracerRun::Field : IntervalField {
  bool isInterval = false;  ///< Otherwise it has one step alone, to locate particles.
  std::optional<PointEvaluator> evaluator;
  std::optional<PointEvaluator> laterEvaluator;  ///< Where the mesh changes.
  std::optional<EventArrayFields> fields;        ///< With events of arrays.
};

/// Collective. Makes the field between two steps.
/// @param earlier  may be `later`, for one step alone
/// @param field  Out
/// @param segment  receives the list of point arrays
void PathTracerRun::makeField(const StepData& earlier, const StepData& later, double stop,
                              Field& field, PathSegment& segment) {
  Transport& transport = context_.transport;
  field.isInterval = earlier.data != later.data;
  const TimeInterval interval{earlier.time, field.isInterval ? later.time : afterStep(later.time),
                              stop};
  PointArrayList all, laterAll;
  makeIntervalField(transport, settings_, earlier, later, interval, state_.memory, field,
                    [&](Transport& through) {
                      all = agreeOnPointArrays(through, *field.flow);
                      if (field.later) laterAll = agreeOnPointArrays(through, *field.later);
                    });
  skippedTrees_ = field.skippedTrees;
  const auto match = [&] {
    if (field.later) matchSteps(all, laterAll);
    require(!field.later || !hasEvents(), "Events",
            "given for a mesh that changes between the times " + numberText(earlier.time) +
                " and " + numberText(later.time),
            "remove the events, or use an input whose cells stay the same");
  };
  const std::vector<EventArray>& eventArrays = settings_.eventArrays;
  std::vector<std::size_t> eventPlaces;
  if (!eventArrays.empty()) {
    collectively(transport, match);
    segment.list = selectWithEvents(transport, all, *field.flow, settings_.pointArrays, eventArrays,
                                    eventPlaces);
  }
  collectively(transport, [&] {
    if (eventArrays.empty()) {
      match();
      segment.list = selectArrays(all, *field.flow, settings_.pointArrays);
    }
    field.options.rules.record = recordsSteps();
    field.options.recordEnds = !recordsSteps() && !settings_.crossingsOnly;
    field.options.monitor = [this](double share) { return monitor(share); };
    if (hasSurface()) setSurface(field.options.rules.events, *state_.surface);
    const auto make = [&](const FlowDomain& flow, const PointArrayList& list,
                          const StepRules& rules, std::optional<PointEvaluator>& evaluator) {
      evaluator.emplace(flow, list, rules, settings_.computeVorticity, settings_.rotationScale);
    };
    const StepRules& rules = field.options.rules;
    if (!field.later) {
      make(*field.flow, segment.list, rules, field.evaluator);
      if (!eventArrays.empty())
        field.options.rules.fields =
            &field.fields.emplace(*field.evaluator, rules, eventArrays, eventPlaces);
      return;
    }
    const PointArrayList laterList = selectArrays(laterAll, *field.later, settings_.pointArrays);
    make(*field.flow, asDoubles(segment.list), rulesOfStep(rules), field.evaluator);
    make(*field.later, asDoubles(laterList), rulesOfStep(rules), field.laterEvaluator);
  });
  field.evaluator->averageVelocity(transport);
  if (field.later) field.laterEvaluator->averageVelocity(transport);
}

/// Local. Adds the points of this rank's particles to their segment.
/// @param begin  the time at which particles are continued
void PathTracerRun::addPoints(const PointEvaluator& evaluator, LineArrays& points, double begin,
                              PathSegment& segment) const {
  const std::vector<PointField>& fields = evaluator.fields();
  for (std::size_t f = 0; f < fields.size(); ++f) {
    if (!isOutput(fields[f])) continue;
    segment.fields.push_back(fields[f]);
    segment.arrays.push_back(points.arrays[f]);
  }
  for (std::size_t f = 0; f < segment.fields.size(); ++f) {  // of other types: see asDoubles()
    PointField& field = segment.fields[f];
    field.type = segment.arrays[f]->GetDataType();
    field.bytes = index(field.components * segment.arrays[f]->GetDataTypeSize());
  }
  for (PointArray& array : segment.list.arrays) {  // those of the input
    array.perPiece.clear();
    array.laterPerPiece.clear();
  }
  if (settings_.computeVorticity) addRotation(segment, begin);
  if (recordsSteps() && !settings_.keepsSteps) keepLastPoints(segment);
}

/// Local. Adds a trace to the counts of the request.
void PathTracerRun::count(const Field& field, const TraceResult& traced) {
  PathTracerState::Counts& counts = state_.counts;
  counts.add(traced);
  counts.intervals += field.isInterval;
  counts.changes += field.later != nullptr;
  counts.points += traced.points;
  const std::size_t evaluators =
      field.evaluator->memory() + (field.later ? field.laterEvaluator->memory() : 0);
  counts.axes = field.flow->periodic;
  counts.domainBytes = std::max(counts.domainBytes, fieldMemory(field) + evaluators);
}

/// Collective. Traces particles through the interval between two steps.
/// @param earlier  may be `later`, for one step alone
/// @param before  of the particles that are continued; may be null if there are none
/// @param particles  of this rank
/// @param segment  Out
/// @return false after an abort
bool PathTracerRun::trace(const StepData& earlier, const StepData& later, double stop,
                          const PathSegment* before, std::vector<Traced>& particles,
                          PathSegment& segment) {
  Transport& transport = context_.transport;
  const std::int64_t most =
      allreduce(transport, ReduceOp::Max, static_cast<std::int64_t>(particles.size()));
  if (most == 0) return true;
  const Shares shares = idsOfParticles(most, transport.size());
  const std::int64_t first = shares.first(transport.rank());
  Field field;
  makeField(earlier, later, stop, field, segment);
  TraceOptions& options = field.options;
  std::vector<Seed> seeds;
  collectively(transport, [&] {
    // Cells have other numbers with other blocks per rank than before, and where points move,
    // because the mesh is cut anew, and where it changes. On other ranks, too: a run that may be
    // resumed searches for cells, as the one that resumes it does.
    const Assignment& blocks = field.flow->domain->assignment;
    const bool stay = !field.flow->moves && !field.later && settings_.checkpoints.directory.empty();
    const bool areKnown = stay && before && before->blocks && *before->blocks == blocks;
    if (areKnown)
      segment.blocks = before->blocks;
    else if (stay)
      segment.blocks = std::make_shared<const Assignment>(blocks);
    std::int64_t id = first;
    seeds.reserve(particles.size());
    for (const Traced& traced : particles) {
      const PathEntry& entry = traced.before;
      Seed& seed = seeds.emplace_back();
      seed = {{entry.x[0], entry.x[1], entry.x[2]}, id++, entry.time};
      if (!areKnown) continue;
      seed.block = entry.block;
      seed.cell = entry.cell;
    }
    if (before && hasEvents())
      options.progressOf = [&particles, first, this](const Seed& seed) {
        return progressOf(particles[index(seed.id - first)]);
      };
  });
  if (field.isInterval &&
      !tuneInterval(context_, settings_.autoTune, field, seeds, options, state_.memory.choice))
    return false;
  if (settings_.lendingMemory > 0 && !field.later) {
    options.lending = lendingIn(field, settings_, shares);
    options.lending->cargo = &*field.evaluator;
  }
  MeshChangeTrace change = traceInterval(transport, field, seeds, options);
  TraceResult& traced = change.traced;
  if (context_.agreeOnAbort(traced.aborted)) return false;

  LineTable table, crossingPlaces;
  sendEnds(transport, shares, traced.ends, [&](const std::vector<LineEnd>& ends) {
    const std::vector<LineEnd> ordered = inOrder(ends, first, particles.size());
    for (std::size_t p = 0; p < particles.size(); ++p) particles[p].end = ordered[p];
    table = enter(particles, stop, first, segment);
    if (hasEvents()) crossingPlaces = enterCrossings(particles, first, segment);
  });
  const std::unique_ptr<LineArrays> points =
      field.later ? collectChangedPoints(transport, field, *field.evaluator, *field.laterEvaluator,
                                         segment.list, shares, table, change)
                  : collectPoints(transport, *field.flow, *field.evaluator, shares, table, traced);
  CrossingList crossings;
  if (hasEvents())
    crossings = collectCrossings(transport, *field.flow, *field.evaluator, shares,
                                 std::move(crossingPlaces), CrossingContent::All, traced);
  collectively(transport, [&] {
    addPoints(*field.evaluator, *points, earlier.time, segment);
    if (hasEvents()) addCrossings(*field.evaluator, crossings, segment);
  });
  state_.memory.rates = field.lent.rates;
  count(field, traced);
  return true;
}

/// Collective. Adds a step: the interval before it, the particles injected there, and its data.
/// @return false after an abort
bool PathTracerRun::add(Task task, const StepData& step, vtkDataObject* source) {
  std::vector<Traced> particles;
  StepData earlier = step;
  const PathSegment* before = nullptr;
  if (task == Task::First) {
    state_.history = {};
    state_.seeds.reset();
    state_.memory.choice.reset();
    state_.begun = state_.requested;
  } else {
    earlier = {state_.kept, state_.keptTime};
    before = &state_.history.segments.back();
    collectively(context_.transport, [&] { particles = active(*before); });
  }
  inject(source, step.time, particles);
  PathSegment segment;
  const double stop = std::min(step.time, settings_.terminationTime);
  if (!trace(earlier, step, stop, before, particles, segment)) return false;
  state_.keep(context_.transport, step,
              [&] { state_.history.segments.push_back(std::move(segment)); });
  return true;
}

/// Collective. Traces from the step that is kept to the time of the output.
/// @param step  at the end of the interval
/// @return false after an abort
bool PathTracerRun::tracePart(const StepData& step, PathSegment& part) {
  std::vector<Traced> particles;
  const PathSegment* before = nullptr;
  collectively(context_.transport, [&] {
    before = &state_.history.segments.at(state_.plan.needed() - 1);
    particles = active(*before);
  });
  return trace({state_.kept, state_.keptTime}, step,
               std::min(state_.plan.outputTime(), settings_.terminationTime), before, particles,
               part);
}

/// The particles of this rank that are continued after a segment.
std::vector<PathTracerRun::Traced> PathTracerRun::active(const PathSegment& segment) {
  std::vector<Traced> particles;
  particles.reserve(segment.entries.size());
  for (std::size_t e = 0; e < segment.entries.size(); ++e) {
    const PathEntry& entry = segment.entries[e];
    if (entry.reason != Reason::None) continue;
    Traced& traced = particles.emplace_back();
    traced.before = entry;
    traced.before.event = traced.before.target = -1;
    if (!segment.progress.empty()) traced.progress = segment.progress[e];
    traced.isNew = false;
  }
  return particles;
}

/// Collective. Writes a checkpoint after a step if one is due.
void PathTracerRun::writeCheckpoint() {
  const auto save = [&](CheckpointIndex& index) {
    const PathPlan& plan = state_.plan;
    index.basis = state_.begun.properties.packed();
    index.steps = plan.added();
    index.time = plan.added().back();
    index.common = saveCommon({plan.added(), plan.passedOver()}, state_.history, state_.seeds);
    return savePart(state_.history, state_.seeds);
  };
  if (state_.checkpoints.addStep(context_.transport, settings_.checkpoints, save))
    context_.statistics.phase("CheckpointSeconds");
}

/// Collective. Shows the warnings of all ranks, on one of them.
void PathTracerRun::warn(const ShownPaths& shown, const std::set<std::string>& dropped) {
  std::int64_t unexpected = 0;
  for (std::size_t s = 0; s < shown.steps; ++s)
    for (const PathEntry& entry : shown.history.segments[s].entries)
      unexpected += entry.reason == Reason::UnexpectedValue;
  const std::vector<std::int64_t> sums = allreduce(
      context_.transport, ReduceOp::Sum,
      std::vector<std::int64_t>{unexpected, skippedTrees_,
                                static_cast<std::int64_t>(shown.history.particles.size())});
  if (context_.transport.rank() != 0) return;
  PointArrayList arrays;
  arrays.dropped = shown.last().list.dropped;
  arrays.missing = shown.last().list.missing;
  std::set<std::string> fleeting = dropped;
  for (std::size_t s = 0; s < shown.steps; ++s) {
    const std::vector<std::string>& names = shown.history.segments[s].list.fleeting;
    fleeting.insert(names.begin(), names.end());
  }
  arrays.fleeting.assign(fleeting.begin(), fleeting.end());
  warnOfArrays(context_, arrays);
  if (sums[1] > 0) warnOfTrees(context_);
  const std::size_t steps = state_.plan.steps().size();
  if (steps == 1 || (steps == 0 && !hasTime_))
    context_.warn(std::string("The input has ") + (steps == 1 ? "a single time step" : "no time") +
                  ", so particles stay at their seeds; choose an input with several time steps, or "
                  "trace a steady flow with Async Stream Tracer.");
  if (!shown.history.injections.empty() && sums[2] == 0)
    context_.warn(
        "There are no particles: all seeds lie outside of the cells with the vectors; move the "
        "seeds into the data.");
  if (shown.history.injections.empty() && settings_.terminationTime <= shown.time)
    context_.warn(
        "There are no particles: Termination Time is not after the first injection; set it to a "
        "later time, or to 0 for no limit.");
  if (settings_.kind == PathKind::Streaklines && settings_.reinjection == 0)
    context_.warn(
        "There are no streaklines: these join particles injected at several steps; set Force "
        "Reinjection Every N Steps to 1.");
  if (sums[0] > 0)
    context_.warn(std::to_string(sums[0]) +
                  " particles end where the vectors are not finite numbers (ReasonForTermination " +
                  std::to_string(static_cast<int>(Reason::UnexpectedValue)) +
                  "); replace these values to continue the paths.");
}

void PathTracerRun::addStatistics(const ShownPaths& shown, vtkPolyData* output) {
  RunStatistics& statistics = context_.statistics;
  const PathHistory& history = state_.history;
  const PathTracerState::Counts& counts = state_.counts;
  std::int64_t inside = 0;
  for (const PathEntry& entry : shown.last().entries) inside += isInside(entry, shown.time);
  std::size_t bytes = history.particles.size() * sizeof(PathParticle);
  for (const PathSegment& segment : history.segments)
    bytes += segment.memory() + segment.crossings.memory() +
             segment.progress.size() * sizeof(PathProgress);
  statistics.count("Injections", static_cast<std::int64_t>(history.injections.size()));
  statistics.count("Injected", static_cast<std::int64_t>(history.particles.size()));
  statistics.count("OutsideSeeds", history.outside(context_.transport));
  statistics.count("Particles", inside);
  statistics.count("OutputPoints", output->GetNumberOfPoints());
  statistics.count("StepsAdded", static_cast<std::int64_t>(history.segments.size()));
  statistics.count("HistoryBytes", static_cast<std::int64_t>(bytes));
  statistics.count("PointsRecorded", counts.points);
  counts.addTo(statistics, settings_.autoTune, state_.memory.choice);
  if (state_.surface) addSurface(*state_.surface, statistics);
  statistics.phase("OutputSeconds");
}

/// Collective. Writes the output of this rank, statistics and warnings.
void PathTracerRun::write(const ShownPaths& shown, vtkPolyData* output, vtkPolyData* crossings) {
  if (settings_.kind == PathKind::Streaklines &&
      shown.history.seedsVary())  // the same on all ranks
    throw Error(
        "the number of points of the seed source changes between injections, and a streakline "
        "joins the particles of one seed; turn on Static Seeds, or choose a seed source whose "
        "points stay");
  std::set<std::string> dropped;
  collectively(context_.transport, [&] {
    output->ShallowCopy(makePathOutput(context_.transport, shown, settings_.kind, dropped));
    crossings->ShallowCopy(makeCrossingOutput(context_.transport, shown));
    for (vtkPolyData* made : {output, crossings})
      made->GetInformation()->Set(vtkDataObject::DATA_TIME_STEP(), shown.time);
  });
  if (hasEvents())
    context_.statistics.count("Crossings", std::int64_t(crossings->GetNumberOfPoints()));
  addStatistics(shown, output);
  warn(shown, dropped);
}

/// Collective. The surface of events is that of the first step: a modification of its pipeline
/// restarts there, and without time steps a simulation may make it again at each of its steps.
void PathTracerRun::makeSurface(Task task, vtkDataObject* surfaces) {
  if (!hasSurface()) return state_.surface.reset();
  if (task != Task::First && state_.surface) return;  // the same on all ranks
  state_.surface = gatherSurface(context_.transport, surfaces, settings_.surfaceLabels,
                                 std::move(state_.surface));
}

bool PathTracerRun::execute(vtkDataObject* input, vtkDataObject* source, vtkDataObject* surfaces,
                            vtkPolyData* output, vtkPolyData* crossings) {
  PathPlan& plan = state_.plan;
  const bool resumes = state_.checkpoints.found().has_value();  // on all ranks
  if (resumes) resume();
  const auto [step, task, isPassedOver, hasTime] = state_.next(context_.transport, input);
  hasTime_ = hasTime;
  if (resumes) state_.history.keepSteps(plan.added().size());
  if (isPassedOver) {
    plan.passOver();
    isUnderWay_ = true;
    return true;
  }
  makeSurface(task, surfaces);
  PathSegment part;
  switch (task) {
    case Task::First:
    case Task::Advance:
      if (!add(task, step, source)) return false;
      break;
    case Task::Load:
      state_.keep(context_.transport, step);
      break;
    case Task::Part:
      if (!tracePart(step, part)) return false;
      break;
    case Task::Nothing:
      break;
  }
  isUnderWay_ = plan.advance(task, step.time);
  if (resumes || task == Task::First) state_.checkpoints.begin();
  if (task == Task::First || task == Task::Advance) writeCheckpoint();
  if (isUnderWay_) return true;
  write({state_.history, plan.needed(), task == Task::Part ? &part : nullptr, plan.outputTime(),
         hasEvents(), hasSurface()},
        output, crossings);
  if (!settings_.keepDomain) state_.memory.forgetMeshes();
  return true;
}

}  // namespace tributary
