// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "Common/RunContext.h"
#include "Common/RunStatistics.h"
#include "Lines/DomainFromVTK.h"
#include "Lines/LineSettings.h"
#include "Paths/IntervalDomain.h"
#include "Periodic/PeriodicAxes.h"
#include "Periodic/Seam.h"

#include "Tributary/Advection/MeshChange.h"
#include "Tributary/Advection/MeshField.h"
#include "Tributary/Advection/StepRules.h"
#include "Tributary/Advection/Tracer.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Collective/CollectiveMemo.h"
#include "Tributary/Collective/Shares.h"
#include "Tributary/Exchange/ExchangeSetting.h"
#include "Tributary/Exchange/Statistics.h"

namespace tributary {

// What filters need that trace particles through one interval between two steps after the other.

/// What AutoTune has chosen.
struct TuningChoice {
  ExchangeSetting exchange;
  std::size_t trials = 0;  ///< Since they were last reported.
};

/// What is kept from one interval to the next.
struct IntervalMemory {
  std::unique_ptr<MeshCache> meshes;
  std::unique_ptr<MeshCache> otherMeshes;  ///< Of the other step, where the mesh changes.
  CollectiveMemo setup;                    ///< Of the field.
  LendingRates rates;
  std::optional<TuningChoice> choice;

  void forgetMeshes() {
    meshes.reset();
    otherMeshes.reset();
  }
};

/// The field of an interval, and what traces through it need.
struct IntervalField {
  ClosedData closed, laterClosed;  ///< The data of the two steps.
  std::unique_ptr<FlowDomain> flow;
  std::unique_ptr<FlowDomain> later;  ///< Where the mesh changes: see IntervalDomains.
  TraceOptions options;               ///< Without a monitor, lending, and the choice of AutoTune.
  LendingMemory lent;
  std::int64_t skippedTrees = 0;  ///< Hyper tree grids of this rank.
};

/// Collective. Makes the field between two steps, cut into blocks. If what the ranks tell each
/// other is as in the interval before, they need not do so again.
/// @param earlier  may be `later`, for one step alone
/// @param field  Out
/// @param further  collective work on the field that is repeated with it: see
///                 CollectiveMemo::run(). May be empty.
/// @throws Error on all ranks, as makeIntervalDomains()
void makeIntervalField(Transport& transport, const TraceSettings& settings, const StepData& earlier,
                       const StepData& later, const TimeInterval& interval, IntervalMemory& memory,
                       IntervalField& field, const std::function<void(Transport&)>& further = {});

/// Collective. Applies the choice of AutoTune to `options`, after trials if there is none. Where
/// the mesh changes there are no trials.
/// @param isOn  whether AutoTune is on; if not, the choice is removed
/// @return false after an abort
[[nodiscard]] bool tuneInterval(const RunContext& context, bool isOn, const IntervalField& field,
                                const std::vector<Seed>& seeds, TraceOptions& options,
                                std::optional<TuningChoice>& choice);

/// Collective. Traces particles through the field, also where the mesh changes.
/// @param options  without lending, where the mesh changes
[[nodiscard]] MeshChangeTrace traceInterval(Transport& transport, const IntervalField& field,
                                            Span<const Seed> seeds, const TraceOptions& options);

/// Local. The memory of the field in bytes, beyond the input and evaluators.
[[nodiscard]] std::size_t fieldMemory(const IntervalField& field);

/// Local. The options of lending in a trace of particles with these ids.
/// @param field  must outlive the trace
[[nodiscard]] TraceLending lendingIn(IntervalField& field, const TraceSettings& settings,
                                     const Shares& ids);

/// Counts of traces, on this rank.
struct IntervalCounts {
  std::int64_t intervals = 0;  ///< Traced, parts of intervals included.
  std::int64_t changes = 0;    ///< Of these, those in which the mesh changes.
  std::int64_t handovers = 0;  ///< Of particles between blocks.
  std::int64_t loans = 0;
  std::size_t domainBytes = 0;  ///< The most memory of a domain, beyond the input.
  PeriodicAxes axes;            ///< Of the last domain.
  ExchangeStatistics exchange;

  void add(const TraceResult& traced);
  /// Adds the counts to statistics, and the choice of AutoTune if it is on.
  void addTo(RunStatistics& statistics, bool autoTune, std::optional<TuningChoice>& choice) const;
};

/// Local. The end of an interval for one step alone, in which particles are only located.
[[nodiscard]] double afterStep(double time);

/// Local. Ranges of ids of particles for a trace: rank r has some of those in
/// [r * most, (r + 1) * most).
/// @param most  the largest number of particles of a rank
[[nodiscard]] Shares idsOfParticles(std::int64_t most, int ranks);

/// Local. The ends of this rank's particles, ordered by their ids. Throws Error unless there is one
/// of each.
/// @param ends  as sendEnds() passes them
/// @param first  the id of the first particle of this rank
/// @param count  the number of particles of this rank
[[nodiscard]] std::vector<LineEnd> inOrder(const std::vector<LineEnd>& ends, std::int64_t first,
                                           std::size_t count);

}  // namespace tributary
