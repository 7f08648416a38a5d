// SPDX-License-Identifier: BSD-3-Clause
#include "Lines/StreamTracerRun.h"

#include <vtkDataArray.h>
#include <vtkDataObject.h>
#include <vtkFieldData.h>
#include <vtkIdTypeArray.h>
#include <vtkNew.h>
#include <vtkPolyData.h>
#include <vtkSmartPointer.h>
#include <vtkTable.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "Common/DataVersion.h"
#include "Common/FreshArray.h"
#include "Common/Leaves.h"
#include "Common/Require.h"
#include "Common/RunStatistics.h"
#include "Common/SmpFor.h"
#include "Lines/Crossings/CrossingOutput.h"
#include "Lines/Crossings/EventArrays.h"
#include "Lines/Crossings/SurfaceFromVTK.h"
#include "Lines/DomainFromVTK.h"
#include "Lines/LineAssembly.h"
#include "Lines/LineTable.h"
#include "Lines/PointArrays.h"
#include "Lines/PointEvaluator.h"
#include "Lines/SeedsFromVTK.h"
#include "Lines/SurfaceVectors.h"
#include "Lines/TraceReport.h"
#include "Periodic/Seam.h"

#include "Tributary/Advection/Tracer.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {
namespace {

/// Progress at the end of each phase.
constexpr double SetupDone = 0.1;
constexpr double TracingDone = 0.8;

/// The number of blocks that AutoTune tries beside BlocksPerRank.
int moreBlocks(int blocksPerRank) {
  return static_cast<int>(
      std::min<std::int64_t>(std::numeric_limits<int>::max(), std::int64_t{4} * blocksPerRank));
}

/// Local. Whether the domain exists and was cut with this number of blocks per rank.
bool isCut(const FlowDomain& flow, int blocksPerRank) {
  return flow.domain && flow.blocksPerRank == blocksPerRank;
}

}  // namespace

/// What an execution finds out about its input, and the next one may reuse.
struct FlowSetup {
  int rank = 0, ranks = 1;
  DataVersion input;
  PropertyList field;
  ClosedData closed;
  std::unique_ptr<FlowDomain> flow;
  PointArrayList arrays;
  std::int64_t skippedTrees = 0;  ///< Of this rank.

  // Of the last evaluation, and of the copies that it needed.
  PropertyList evaluation;
  std::optional<PointEvaluator> evaluator;
  LendingMemory lending;
};

/// Collective. Uses the set-up of the last execution if the input of all ranks is the same, and
/// makes a new one otherwise.
std::shared_ptr<FlowSetup> StreamTracerRun::setUp(vtkDataObject* input) {
  Transport& transport = context_.transport;
  std::shared_ptr<FlowSetup> setup = std::move(state_.setup);  // lost in an execution that fails
  const int blocksPerRank =
      settings_.autoTune && state_.choice ? state_.choice->blocksPerRank : settings_.blocksPerRank;
  bool same = false;
  ErrorCollector errors;  // agreed on below; there is none if the set-up is reused
  errors.attempt([&] {
    same = setup && setup->rank == transport.rank() && setup->ranks == transport.size() &&
           setup->field == settings_.field && setup->input.isCurrent(input);
  });
  // Ranks may differ in their numbers of blocks.
  const std::vector<std::int64_t> onAll = allreduce(
      transport, ReduceOp::Min,
      std::vector<std::int64_t>{same, same && isCut(*setup->flow, blocksPerRank) ? 1 : 0});
  const bool reuse = onAll[0] != 0;
  context_.statistics.count("ReusedDomain", reuse);
  reusedMesh_ = reuse;  // unless it is cut anew
  if (reuse) {
    if (onAll[1] == 0) cutAnew(*setup, blocksPerRank);
    return setup;
  }
  setup.reset();  // before new memory is allocated
  errors.attempt([&] {
    setup = std::make_shared<FlowSetup>();
    setup->rank = transport.rank();
    setup->ranks = transport.size();
    setup->input = DataVersion(input);
    setup->field = settings_.field;
    if (settings_.keepDomain && !state_.meshes) state_.meshes = std::make_unique<MeshCache>();
  });
  errors.agree(transport);
  setup->closed = closeFlow(transport, input, settings_.periodic, settings_.velocity);
  FlowPieces found;
  collectively(transport, [&] {
    found = findFlowPieces(transport, setup->closed.data(), settings_.velocity);
  });
  setup->skippedTrees = found.skippedTrees;
  setup->flow = makeFlowDomain(transport, std::move(found), setup->closed.axes);
  cutAnew(*setup, blocksPerRank);
  setup->arrays = agreeOnPointArrays(transport, *setup->flow);
  return setup;
}

/// Collective.
/// @param arrays  Out: the arrays that lines carry
/// @param eventPlaces  Out: those of events in `arrays`
/// @return the options of the trace without those that AutoTune chooses
TraceOptions StreamTracerRun::makeOptions(const FlowSetup& setup, PointArrayList& arrays,
                                          std::vector<std::size_t>& eventPlaces) {
  const FlowDomain& flow = *setup.flow;
  TraceOptions options;
  options.rules = settings_.rules;
  arrays = selectWithEvents(context_.transport, setup.arrays, flow, settings_.pointArrays,
                            settings_.eventArrays, eventPlaces);
  collectively(context_.transport, [&] {
    StepRules& rules = options.rules;
    require(!rules.onSurface || flow.dimension == 2, "Surface Streamlines",
            "on with an input of volumes",
            "turn it off, or trace on the result of Extract Surface");
    setPeriods(flow.periodic, rules);
    options.forward = settings_.forward;
    options.backward = settings_.backward;
    options.exchange = settings_.exchange;
    options.parallelFor = smpFor;
    options.monitor = [this](double share) {
      return context_.monitor(SetupDone +
                              (TracingDone - SetupDone) * std::min(1.0, std::max(0.0, share)));
    };
  });
  return options;
}

/// Collective. Sets the surface of events.
/// @return the surface, which must outlive the trace, or null if no event needs one
std::shared_ptr<SurfaceTarget> StreamTracerRun::makeSurface(vtkDataObject* surfaces,
                                                            EventList& events) {
  std::shared_ptr<SurfaceTarget> kept = std::move(state_.surface);
  if (!haveSurface(events)) return {};
  std::shared_ptr<SurfaceTarget> target =
      gatherSurface(context_.transport, surfaces, settings_.surfaceLabels, std::move(kept));
  setSurface(events, *target);
  addSurface(*target, context_.statistics);
  return target;
}

/// Collective. Divides the domain into blocks unless it is divided so already on all ranks.
void StreamTracerRun::cut(FlowSetup& setup, int blocksPerRank) {
  const auto done = std::int64_t(isCut(*setup.flow, blocksPerRank));
  if (allreduce(context_.transport, ReduceOp::Min, done) == 0) cutAnew(setup, blocksPerRank);
}

/// Collective.
void StreamTracerRun::cutAnew(FlowSetup& setup, int blocksPerRank) {
  FlowDomain& flow = *setup.flow;
  setup.lending = {};  // of other blocks
  flow.domain.reset();
  flow.domain = cutIntoBlocks(context_.transport, flow, blocksPerRank, state_.meshes.get());
  flow.blocksPerRank = blocksPerRank;
  reusedMesh_ = state_.meshes && state_.meshes->reused();
}

/// Collective. Tries settings, and keeps the fastest in the state, and its domain in `setup`.
/// @param properties  the choice is for these
/// @return false after an abort
bool StreamTracerRun::chooseSetting(FlowSetup& setup, const SeedList& seeds,
                                    const TraceOptions& options, PropertyList properties,
                                    std::size_t& trials) {
  Transport& transport = context_.transport;
  FlowDomain& flow = *setup.flow;
  state_.choice.reset();
  setup.lending = {};  // the domain may become another one
  const std::array<int, 2> blocksPerRank{settings_.blocksPerRank,
                                         moreBlocks(settings_.blocksPerRank)};
  std::array<std::unique_ptr<Domain>, 2> domains{std::move(flow.domain),
                                                 cutIntoBlocks(transport, flow, blocksPerRank[1])};
  const std::array<const Domain*, 2> cuts{domains[0].get(), domains[1].get()};
  std::vector<TraceSetting> settings;
  collectively(transport, [&] { settings = traceSettings({cuts.data(), cuts.size()}); });
  const TraceTuning tuning = tuneTrace(transport, settings, seeds.seeds, options);
  if (context_.agreeOnAbort(tuning.aborted)) return false;
  trials = tuning.trials;
  const TraceSetting& best = settings[tuning.best];
  const auto cut = index(std::find(cuts.begin(), cuts.end(), best.domain) - cuts.begin());
  flow.domain = std::move(domains[cut]);
  flow.blocksPerRank = blocksPerRank[cut];
  if (cut != 0) state_.meshes.reset();  // it is of the other domain
  state_.choice = StreamTracerState::Choice{std::move(properties), best.exchange,
                                            blocksPerRank[cut], tuning.expected};
  return true;
}

/// Collective. Applies the choice of AutoTune: the kept one, or that of new trials. Replaces the
/// domain if the choice has another number of blocks.
/// @return false after an abort
bool StreamTracerRun::tune(FlowSetup& setup, const SeedList& seeds, TraceOptions& options) {
  PropertyList properties;
  collectively(context_.transport, [&] {
    properties = settings_.properties;
    properties.add("Seeds", seeds.shares.total);
    properties.add("Blocks Per Rank", settings_.blocksPerRank);
    properties.add("Ranks", context_.transport.size());
  });
  const bool known = state_.choice && state_.choice->properties == properties;
  std::size_t trials = 0;
  // Ranks may differ in Arrivals, and in their last controller.
  if (allreduce(context_.transport, ReduceOp::Or, std::int64_t(!known)) != 0) {
    cut(setup, settings_.blocksPerRank);
    if (!chooseSetting(setup, seeds, options, std::move(properties), trials)) return false;
  } else {
    cut(setup, state_.choice->blocksPerRank);
  }
  const StreamTracerState::Choice& choice = *state_.choice;
  choice.exchange.applyTo(options.exchange);
  context_.statistics.count("TunedBlocksPerRank", choice.blocksPerRank);
  context_.statistics.add(choice.exchange, trials);
  context_.statistics.phase("TuningSeconds");
  return true;
}

/// Collective. Makes what evaluates recorded points, unless that of the last execution will do.
void StreamTracerRun::prepareEvaluation(FlowSetup& setup, const PointArrayList& arrays,
                                        const StepRules& rules) {
  bool isNew = false;  // the same on all ranks
  collectively(context_.transport, [&] {
    PropertyList evaluation;
    for (const PointArray& array : arrays.arrays)
      evaluation.add("Point Arrays", (array.ofCells ? "cells " : "points ") + array.name);
    evaluation.add("Compute Vorticity", settings_.computeVorticity);
    evaluation.add("Rotation Scale", settings_.rotationScale);
    for (const double period : rules.period) evaluation.add("Periodic", period);
    if (setup.evaluator && setup.evaluation == evaluation) return;
    setup.lending.copies.clear();
    setup.evaluator.emplace(*setup.flow, arrays, rules, settings_.computeVorticity,
                            settings_.rotationScale);
    setup.evaluation = std::move(evaluation);
    isNew = true;
  });
  if (isNew) setup.evaluator->averageVelocity(context_.transport);
}

/// Collective. Adds the ids of all rejected seeds to the field data.
void StreamTracerRun::reportRejected(const SeedList& seeds, const LineTable& table,
                                     vtkFieldData* fieldData) {
  Transport& transport = context_.transport;
  std::vector<std::int64_t> mine;
  collectively(transport, [&] {
    for (const std::int64_t place : table.rejected)
      mine.push_back(seeds.shown.empty() ? place : seeds.shown[index(place - table.firstSeed)]);
  });
  const std::vector<std::int64_t> all = allgatherv(transport, mine);
  collectively(transport, [&] {
    requireMemory(3 * all.size() * sizeof(vtkIdType));
    vtkNew<vtkIdTypeArray> ids;
    ids->SetName("RejectedSeedIds");
    for (const std::int64_t id : all) ids->InsertNextValue(id);
    fieldData->AddArray(ids);
  });
}

/// Collective. Shows the warnings of all ranks, on one of them.
void StreamTracerRun::warn(const FlowSetup& setup, const PointArrayList& arrays,
                           const LineTable& table) {
  const FlowDomain& flow = *setup.flow;
  const auto& blocks = flow.domain->blocks;
  const std::int64_t withCells = std::count_if(
      blocks.begin(), blocks.end(), [](const auto& block) { return !block->bounds().empty(); });
  const std::vector<std::int64_t> sums =
      allreduce(context_.transport, ReduceOp::Sum,
                std::vector<std::int64_t>{table.unexpected, setup.skippedTrees, withCells,
                                          table.leaveAtOnce});
  const bool leaveSurface =
      sums[3] > 0 && flow.dimension == 2 && !settings_.rules.onSurface &&
      allreduce(context_.transport, ReduceOp::Or, std::int64_t(vectorsLeaveSurface(flow))) != 0;
  if (context_.transport.rank() != 0) return;
  warnOfArrays(context_, arrays);
  if (sums[1] > 0) warnOfTrees(context_);
  if (sums[2] == 0)
    context_.warn(
        "There are no streamlines: each cell of the input is flat, a ghost cell, hidden, or has "
        "coordinates that are not finite or of extreme magnitude; check the points and the spacing "
        "of the input.");
  if (leaveSurface)
    context_.warn(std::to_string(sums[3]) +
                  " seeds have no line: vectors point out of the surface that the cells of the "
                  "input form, and lines that leave it end; turn on Surface Streamlines to trace "
                  "along the surface.");
  if (sums[0] > 0)
    context_.warn(std::to_string(sums[0]) +
                  " lines end where the vectors are not finite numbers (ReasonForTermination " +
                  std::to_string(static_cast<int>(Reason::UnexpectedValue)) +
                  "); replace these values to continue the lines.");
}

void StreamTracerRun::addStatistics(const FlowSetup& setup, const SeedList& seeds,
                                    const LineTable& table, const TraceResult& traced) {
  RunStatistics& statistics = context_.statistics;
  const FlowDomain& flow = *setup.flow;
  const std::size_t bytes =
      domainMemory(flow, setup.lending) + setup.evaluator->memory() + setup.closed.memory;
  statistics.count("ReusedMesh", reusedMesh_);
  statistics.count("DomainBytes", static_cast<std::int64_t>(bytes));
  statistics.count("Seeds", static_cast<std::int64_t>(seeds.seeds.size()));
  statistics.count("RejectedSeeds", static_cast<std::int64_t>(table.rejected.size()));
  statistics.count("Lines", static_cast<std::int64_t>(table.lines.size()));
  statistics.count("LinePoints", table.points);
  statistics.count("PointsRecorded", traced.points);
  addPeriods(flow.periodic, statistics);
  statistics.count("Blocks", static_cast<std::int64_t>(flow.domain->blocks.size()));
  statistics.count("Handovers", traced.handovers);
  statistics.add(traced.statistics);
  if (settings_.lendingMemory > 0) addLendingStatistics(flow, traced.lending, statistics);
  statistics.phase("AssemblySeconds");
}

/// Collective.
void StreamTracerRun::assembleCrossings(const FlowSetup& setup, const PointArrayList& arrays,
                                        const SeedList& seeds, const LineTable& table,
                                        TraceResult& traced, vtkPolyData* output) {
  Transport& transport = context_.transport;
  const CrossingContent content = settings_.rules.crossingContent;
  vtkSmartPointer<vtkPolyData> crossings;
  if (table.hasEvents)
    crossings = tributary::assembleCrossings(transport, *setup.flow, *setup.evaluator, arrays,
                                             seeds, table, content, traced);
  else
    crossings = noCrossings(transport, *setup.evaluator, arrays, seeds, content);
  output->ShallowCopy(crossings);
  if (table.hasEvents)
    context_.statistics.count("Crossings", std::int64_t(crossings->GetNumberOfPoints()));
}

/// Collective.
/// @return false after an abort
bool StreamTracerRun::writeDestinations(const FlowSetup& setup, const SeedList& seeds,
                                        const LineTable& table, TraceOptions options,
                                        ArrayPlace place, vtkTable* output) {
  const DestinationSettings& destinations = settings_.destinations;
  output->Initialize();
  if (destinations.kind == DestinationKind::None) return true;
  options.monitor = [this](double) { return context_.monitor(TracingDone); };
  std::vector<double> labels;
  bool aborted = false;
  if (destinations.kind == DestinationKind::Label)
    labels = endLabels(context_.transport, destinations.endArray, place, *setup.flow, seeds, table,
                       options, aborted);
  if (context_.agreeOnAbort(aborted)) return false;
  tributary::writeDestinations(context_.transport, destinations.kind, seeds, table, options, labels,
                               output);
  return true;
}

bool StreamTracerRun::execute(vtkDataObject* input, vtkDataObject* source, vtkDataObject* surfaces,
                              vtkPolyData* output, vtkPolyData* crossings, vtkTable* destinations) {
  Transport& transport = context_.transport;
  const std::shared_ptr<FlowSetup> setup = setUp(input);
  FlowDomain& flow = *setup->flow;
  const SeedList seeds = makeSeedList(transport, source, settings_.destinations.seedArray);
  PointArrayList arrays;
  std::vector<std::size_t> eventPlaces;
  TraceOptions options = makeOptions(*setup, arrays, eventPlaces);
  const std::shared_ptr<SurfaceTarget> surface = makeSurface(surfaces, options.rules.events);
  const ArrayPlace endLabels = settings_.destinations.kind == DestinationKind::Label
                                   ? findEndLabels(transport, flow, settings_.destinations.endArray)
                                   : ArrayPlace::Nowhere;
  context_.statistics.phase("SetupSeconds");
  context_.monitor(SetupDone);
  prepareEvaluation(*setup, arrays, options.rules);
  std::optional<EventArrayFields> fields;  // also for the trials of AutoTune
  if (!settings_.eventArrays.empty())
    options.rules.fields =
        &fields.emplace(*setup->evaluator, options.rules, settings_.eventArrays, eventPlaces);
  context_.statistics.phase("PreparationSeconds");
  if (!settings_.autoTune)
    state_.choice.reset();
  else if (!tune(*setup, seeds, options))
    return false;

  if (settings_.lendingMemory > 0) {
    TraceLending& lending = options.lending.emplace();
    lending.options.memory = settings_.lendingMemory;
    lending.cargo = &*setup->evaluator;
    lending.memory = &setup->lending;
    lending.homeOf = [&seeds](std::int64_t line) { return seeds.shares.ownerOf(line >> 1); };
  }

  TraceResult traced = trace(transport, *flow.domain, seeds.seeds, options);
  const double tracing = context_.statistics.phase("TracingSeconds");
  if (!traced.aborted) context_.monitor(TracingDone);
  if (context_.agreeOnAbort(traced.aborted)) return false;

  LineTable table =
      makeLineTable(transport, seeds.shares, traced.ends, options.forward, options.backward,
                    settings_.joinDirections, !settings_.crossingsOnly);
  table.hasEvents = options.rules.events.count > 0;
  table.hasSurface = surface != nullptr;
  output->ShallowCopy(assembleLines(transport, flow, *setup->evaluator, arrays, seeds, table,
                                    traced, settings_.computeVorticity));
  assembleCrossings(*setup, arrays, seeds, table, traced, crossings);
  if (!writeDestinations(*setup, seeds, table, options, endLabels, destinations)) return false;
  if (input)
    for (vtkPolyData* made : {output, crossings})
      made->GetFieldData()->PassData(input->GetFieldData());
  addStatistics(*setup, seeds, table, traced);
  if (settings_.autoTune && state_.choice->expected)
    context_.statistics.add(*state_.choice->expected, allreduce(transport, ReduceOp::Max, tracing));
  if (settings_.reportRejectedSeeds) reportRejected(seeds, table, output->GetFieldData());
  warn(*setup, arrays, table);
  if (settings_.keepDomain) {
    state_.setup = setup;
    state_.surface = surface;
  } else {
    state_.meshes.reset();
  }
  return true;
}

}  // namespace tributary
