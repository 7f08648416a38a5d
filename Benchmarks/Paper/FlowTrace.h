// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Exchange/SlowBlockFlow.h"
#include "Machines/Machines.h"
#include "Tributary/Exchange/Exchange.h"
#include "Tributary/Exchange/Timeline.h"

namespace bench {

/// The slow-block flow of the iexchange paper (doi:10.1109/LDAV53230.2021.00009, section 4.1.1) as
/// a problem for trace(), on simulated ranks.
struct FlowTraceOptions {
  int ranks = 1;
  int blocksPerRank = 1;
  int voxels = 512;       ///< Per axis.
  double ratio = 10;      ///< Fast to slow velocity.
  int seedsPerVoxel = 4;  ///< Along y and along z.
  /// The edge in voxels of a packet: particles of a square of columns travel together. A power of
  /// two. With fewer packets, trace() has fewer portions of a block to hand over early.
  int packetVoxels = 1;
  /// Blocks are dealt to the ranks in turn, so that a plane of blocks is on few ranks, as in the
  /// paper; otherwise a rank has consecutive blocks along x.
  bool dealt = true;
  /// Ranks lend each other blocks: only with the schedule Asynchronous. In simulation a call ends
  /// after the time of 64 particles, the smallest portion of trace(), so that idle ranks do not
  /// wait long for an answer.
  bool lending = false;
  /// Simulated: one rank in a thousand, at least one, stops for this time in its first call.
  double stallSeconds = 0;
  tributary::ExchangeOptions exchange;
};

/// The result of all ranks.
struct FlowTraceResult {
  double seconds = 0;         ///< Of the exchange, on the slowest rank.
  double busiestSeconds = 0;  ///< In callbacks, of the rank that computed longest.
  double meanSeconds = 0;     ///< In callbacks, on average: a lower bound of any schedule.
  double idleShare = 0;
  std::int64_t rounds = 0;
  std::int64_t steps = 0;      ///< Of all particles.
  std::int64_t handovers = 0;  ///< Of all particles.
  std::int64_t loans = 0;
  std::int64_t copies = 0;                                       ///< Of blocks, sent with loans.
  double copiedBytes = 0;                                        ///< Of these.
  std::uint64_t hash = 0;                                        ///< Over the ends of all packets.
  std::vector<std::vector<tributary::TimelineEntry>> timelines;  ///< By rank; if wanted.
};

/// Runs trace() on the ranks of a machine. A field block moves packets by the known speed and
/// spends the machine's time for their steps and hand-overs; all else is the library's. With
/// lending, LentTracers moves the packets, because the library makes copies of its own blocks only;
/// exchange and lending are the library's.
///
/// Throws tributary::Error if a particle is lost, takes another number of steps than the lengths
/// and speeds of its blocks give, or if a message is left in the network.
/// @param wantTimelines  whether to fill in FlowTraceResult::timelines
FlowTraceResult traceFlow(const Machine& machine, const FlowTraceOptions& options,
                          bool wantTimelines = false);

/// Runs trace() on MPI's ranks, in a uniform field without slow blocks on the library's own blocks:
/// what traceFlow() simulates with a ratio of 1 and packets of one particle. Collective; the result
/// is that of all ranks. Throws tributary::Error if a particle is lost.
/// @param options  the ratio, the particles of a packet and the number of ranks are not used
FlowTraceResult measureFlow(tributary::Transport& transport, const FlowTraceOptions& options);

}  // namespace bench
