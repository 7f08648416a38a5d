// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "Tributary/Advection/Domain.h"
#include "Tributary/Advection/StepRules.h"
#include "Tributary/Advection/Trajectory.h"
#include "Tributary/Base/ParallelFor.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Exchange/Exchange.h"

namespace tributary {

/// Where a line begins. Each id occurs once on all ranks; any rank may hold any seed.
struct Seed {
  double x[3];
  std::int64_t id;
};

struct TraceOptions {
  StepRules rules;
  bool forward = true;
  bool backward = false;
  ExchangeOptions exchange;
  ParallelFor parallelFor = serialFor;  ///< Used over the particles of a block.
  /// Called between turns with the share of lines that ended on this rank relative to those that
  /// began here (a rough progress); return false to abort on all ranks. May be empty.
  std::function<bool(double)> monitor;
};

/// What this rank saw of the lines: every recorded point is on exactly one rank, in the log of the
/// block that evaluated it, and every line's end on exactly one rank.
struct TraceResult {
  std::vector<std::vector<TrajectoryLog>> logs;  ///< Per block of this rank.
  std::vector<LineEnd> ends;                     ///< In no particular order.
  ExchangeStatistics statistics;
  std::int64_t points = 0;     ///< Recorded on this rank.
  std::int64_t handovers = 0;  ///< Particles sent to another block.
  bool aborted = false;
};

/// Traces the lines of all seeds through the field (iexchange paper, Algorithm 6). Collective.
/// Seeds need not lie in the blocks of the rank that holds them: they are searched for, and the
/// ones in no cell end with Reason::NotInitialized and no point.
/// The points, times and reasons do not depend on the number of ranks, blocks or threads, on the
/// schedule or on message timing; see README.md in this folder for the argument.
TraceResult trace(Transport& transport, const Domain& domain, Span<const Seed> seeds,
                  const TraceOptions& options);

}  // namespace tributary
