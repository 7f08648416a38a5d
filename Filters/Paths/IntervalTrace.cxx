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
#include "Tributary/Collective/Agree.h"

namespace tributary {

void makeIntervalField(Transport& transport, const TraceSettings& settings, const StepData& earlier,
                       const StepData& later, const TimeInterval& interval, IntervalMemory& memory,
                       IntervalField& field, const std::function<void(Transport&)>& further) {
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
      field.options.exchange = settings.exchange;
      field.options.parallelFor = smpFor;
      field.lent.rates = memory.rates;
    });
    IntervalDomains domains =
        makeIntervalDomains(through, earlier, later, settings.velocity, field.skippedTrees);
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
  return domainMemory(*field.flow, field.lent) + (field.later ? domainMemory(*field.later, {}) : 0);
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
