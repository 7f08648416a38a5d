// SPDX-License-Identifier: BSD-3-Clause
#include "Paths/IntervalTrace.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "Common/SmpFor.h"
#include "Lines/TraceReport.h"

#include "Tributary/Advection/TraceTuning.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Base/NumberText.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {
namespace {

/// Collective. Finds the periods of the data of both steps, and closes their gaps.
void closeSteps(Transport& transport, const TraceSettings& settings, const StepData& earlier,
                const StepData& later, IntervalField& field) {
  const auto close = [&](vtkDataObject* data) {
    return closeFlow(transport, data, settings.periodic, settings.velocity);
  };
  const bool areTwo =
      settings.periodic.any() &&
      allreduce(transport, ReduceOp::Or, std::int64_t(earlier.data != later.data)) != 0;
  // Missing vectors would look like another period.
  if (areTwo) requireVectors(transport, earlier, later, settings.velocity, false);
  field.closed = close(earlier.data);
  field.laterClosed = field.closed;
  if (!areTwo) {
    field.laterClosed.input = later.data;
    return;
  }
  field.laterClosed = close(later.data);
  for (std::size_t a = 0; a < 3; ++a) {  // the same on all ranks
    const PeriodicAxis &one = field.closed.axes[a], &other = field.laterClosed.axes[a];
    const double tolerance = std::min(one.tolerance, other.tolerance);
    if (std::fabs(one.origin - other.origin) > tolerance ||
        std::fabs(one.period - other.period) > tolerance)
      throw Error(std::string("Periodic is on along ") + "XYZ"[a] + ", where the data begin at " +
                  numberText(one.origin) + " and have the period " + numberText(one.period) +
                  " at the time " + numberText(earlier.time) + ", and " + numberText(other.origin) +
                  " and " + numberText(other.period) + " at the time " + numberText(later.time) +
                  "; set it to 0 there, or set Period if the data only "
                  "look different");
  }
}

}  // namespace

void makeIntervalField(Transport& transport, const TraceSettings& settings, const StepData& earlier,
                       const StepData& later, const TimeInterval& interval, IntervalMemory& memory,
                       IntervalField& field, const std::function<void(Transport&)>& further) {
  field.flow.reset();
  field.later.reset();
  closeSteps(transport, settings, earlier, later, field);
  const StepData from{field.closed.data(), earlier.time}, to{field.laterClosed.data(), later.time};
  bool isSecondCall = false;
  memory.setup.run(transport, [&](Transport& through) {
    // Of a first call, before its meshes are used again.
    field.flow.reset();
    field.later.reset();
    collectively(through, [&] {
      for (auto* meshes : {&memory.meshes, &memory.otherMeshes}) {
        // What a first call has made has links to the cells that other ranks had before.
        if (isSecondCall && *meshes && !(*meshes)->reused()) meshes->reset();
        if (!*meshes) *meshes = std::make_unique<MeshCache>();
      }
      isSecondCall = true;
      field.options.rules = settings.rules;
      field.options.rules.interval = interval;
      setPeriods(field.closed.axes, field.options.rules);
      field.options.exchange = settings.exchange;
      field.options.parallelFor = smpFor;
      field.lent.rates = memory.rates;
    });
    IntervalDomains domains = makeIntervalDomains(through, from, to, settings.velocity,
                                                  field.closed.axes, field.skippedTrees);
    field.flow = std::move(domains.flow);
    field.later = std::move(domains.later);
    const auto cut = [&](FlowDomain& flow, MeshCache& meshes) {
      flow.domain = cutIntoBlocks(through, flow, settings.blocksPerRank, &meshes);
    };
    cut(*field.flow, *memory.meshes);
    if (field.later) cut(*field.later, *memory.otherMeshes);
    if (further) further(through);
  });
  // The next interval begins with the mesh of the later step, unless a part of this one was traced.
  const bool isPart = interval.stop != interval.begin && interval.stop != interval.end;
  if (field.later && !isPart) std::swap(memory.meshes, memory.otherMeshes);
  if (!field.later) memory.otherMeshes.reset();
}

bool tuneInterval(const RunContext& context, bool isOn, const IntervalField& field,
                  const std::vector<Seed>& seeds, TraceOptions& options,
                  std::optional<TuningChoice>& choice) {
  if (!isOn) {
    choice.reset();
    return true;
  }
  if (!choice && field.later) return true;
  if (!choice) {
    const std::array<const Domain*, 1> cuts{field.flow->domain.get()};
    std::vector<TraceSetting> settings;
    collectively(context.transport, [&] { settings = traceSettings({cuts.data(), cuts.size()}); });
    const TraceTuning tuning = tuneTrace(context.transport, settings, seeds, options);
    if (context.agreeOnAbort(tuning.aborted)) return false;
    choice = TuningChoice{settings[tuning.best].exchange, tuning.trials};
  }
  choice->exchange.applyTo(options.exchange);
  return true;
}

MeshChangeTrace traceInterval(Transport& transport, const IntervalField& field,
                              Span<const Seed> seeds, const TraceOptions& options) {
  if (field.later)
    return traceThroughChange(transport, *field.flow->domain, *field.later->domain, seeds, options);
  return {trace(transport, *field.flow->domain, seeds, options), {}};
}

std::size_t fieldMemory(const IntervalField& field) {
  const bool isInterval = field.closed.closed != field.laterClosed.closed;
  return domainMemory(*field.flow, field.lent) +
         (field.later ? domainMemory(*field.later, {}) : 0) + field.closed.memory +
         (isInterval ? field.laterClosed.memory : 0);
}

TraceLending lendingIn(IntervalField& field, const TraceSettings& settings, const Shares& ids) {
  TraceLending lending;
  lending.options.memory = settings.lendingMemory;
  lending.memory = &field.lent;
  lending.homeOf = [ids](std::int64_t line) { return ids.ownerOf(line >> 1); };
  return lending;
}

void IntervalCounts::add(const TraceResult& traced) {
  handovers += traced.handovers;
  loans += traced.lending.loans;
  exchange.add(traced.statistics);
}

void IntervalCounts::addTo(RunStatistics& statistics, bool autoTune,
                           std::optional<TuningChoice>& choice) const {
  statistics.count("Intervals", intervals);
  statistics.count("MeshChanges", changes);
  statistics.count("DomainBytes", static_cast<std::int64_t>(domainBytes));
  addPeriods(axes, statistics);
  statistics.count("Handovers", handovers);
  statistics.count("Loans", loans);
  statistics.add(exchange);
  if (autoTune && choice) statistics.add(choice->exchange, std::exchange(choice->trials, 0));
}

double afterStep(double time) {
  return time + std::max(1.0, std::fabs(time));
}

Shares idsOfParticles(std::int64_t most, int ranks) {
  return {most * ranks, ranks};
}

std::vector<LineEnd> inOrder(const std::vector<LineEnd>& ends, std::int64_t first,
                             std::size_t count) {
  if (ends.size() != count)
    refuseMessage("the ends of particles: expected " + std::to_string(count) + ", received " +
                  std::to_string(ends.size()));
  std::vector<bool> known(count, false);
  std::vector<LineEnd> ordered(count);
  for (const LineEnd& end : ends) {
    const auto at = index((end.line >> 1) - first);
    if (at >= count || known[at]) refuseMessage("two ends of one particle");
    known[at] = true;
    ordered[at] = end;
  }
  return ordered;
}

}  // namespace tributary
