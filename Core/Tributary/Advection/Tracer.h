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

/// The start of a line.
struct Seed {
  double x[3];
  std::int64_t id;  ///< At least 0; occurs once on all ranks.
};

/// Options of trace().
struct TraceOptions {
  StepRules rules;
  bool forward = true;
  bool backward = false;
  ExchangeOptions exchange;
  ParallelFor parallelFor = serialFor;  ///< Runs over the particles of a block.
  /// Called between batches with an estimate of progress in [0, 1]: the number of lines that ended
  /// on this rank over the number that began here. Returns false to abort on all ranks. May be
  /// empty.
  std::function<bool(double)> monitor;
};

/// The result of trace() on this rank. Each recorded point is on exactly one rank, in the log of
/// the block that evaluated it, and the end of each line is on exactly one rank.
struct TraceResult {
  std::vector<std::vector<TrajectoryLog>> logs;  ///< Per block of this rank.
  std::vector<LineEnd> ends;                     ///< In no particular order.
  ExchangeStatistics statistics;
  std::int64_t points = 0;     ///< Recorded on this rank.
  std::int64_t handovers = 0;  ///< Particles sent to another block.
  bool aborted = false;
};

/// Traces the lines of all seeds through the field. Collective.
///
/// Any rank may pass any seed: its block is found by a search. The line of a seed outside all cells
/// ends with Reason::NotInitialized and has no points. Points, times and reasons do not depend
/// on the number of ranks, blocks or threads, on the schedule or on message timing; README.md in
/// this folder gives the reasons.
///
/// Throws Error on all ranks if an option or a seed is not valid on one.
///
/// D. Morozov et al., "IExchange: Asynchronous Communication and Termination Detection for
/// Iterative Algorithms", LDAV 2021, doi:10.1109/LDAV53230.2021.00009, Algorithm 6.
/// @param domain  must outlive the call
/// @param seeds  of this rank
/// @param options  the rules and directions are the same on all ranks
[[nodiscard]] TraceResult trace(Transport& transport, const Domain& domain, Span<const Seed> seeds,
                                const TraceOptions& options);

}  // namespace tributary
