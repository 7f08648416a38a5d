// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "Tributary/Advection/Domain.h"
#include "Tributary/Advection/StepRules.h"
#include "Tributary/Advection/Trajectory.h"
#include "Tributary/Balance/Lending.h"
#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/ParallelFor.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Exchange/Exchange.h"

namespace tributary {

/// The start of a line.
struct Seed {
  double x[3];
  std::int64_t id;  ///< At least 0; occurs once on all ranks.
  double time = 0;  ///< In an unsteady field, where the particle begins: see StepRules::interval.
  // If the line continues one that has ended: LineEnd::block and LineEnd::cell of a trace through
  // the same cells in the same blocks. The line then goes on from this cell, and no cell is
  // searched. Only used with one direction.
  std::int64_t block = -1;
  std::int64_t cell = -1;
};

/// What a line has done, of which another trace continues the end: see TraceOptions::progressOf.
struct LineProgress {
  double begun = 0;                      ///< The time at which it began, from which its age counts.
  double length = 0;                     ///< Up to the end: LineEnd::length.
  std::int32_t count[MostEvents] = {0};  ///< Crossings of each event up to there.
};

/// Data of the caller that travel with copies of blocks: those that it needs to use points that
/// other ranks record there. All members are local.
class BlockCargo {
 public:
  virtual ~BlockCargo() = default;

  /// The number of bytes that write() appends.
  [[nodiscard]] virtual std::size_t bytes(const FieldBlock& block) const = 0;
  /// Appends the data of a block of this rank, or of a copy.
  virtual void write(const FieldBlock& block, Writer& message) const = 0;
  /// @return FieldBlock::piece() for the next copy
  [[nodiscard]] virtual int add() = 0;
  /// Reads what write() has written. Throws Error if it is malformed.
  /// @param copy  the block that was made after add()
  virtual void read(const FieldBlock& copy, Reader& message) = 0;
  /// A copy is about to be destroyed.
  virtual void drop(const FieldBlock& copy) = 0;
};

/// What a trace leaves for the next one through the same domain, with the same cargo.
struct LendingMemory {
  std::map<BlockId, std::shared_ptr<const FieldBlock>> copies;  ///< Of other ranks' blocks.
  std::map<BlockId, double> secondsPerLine;  ///< In each block, this rank's own or copied.
  LendingRates rates;
};

/// Whether ranks lend each other blocks and particles: see Balance/Lending.h. Lines do not change.
struct TraceLending {
  LendingOptions options;
  BlockCargo* cargo = nullptr;  ///< Null on all ranks or on none. Must outlive the trace.
  /// Null, or in and out. Must outlive the trace.
  LendingMemory* memory = nullptr;
  /// The rank that wants the points of a line, which gets it first if it borrows. May be empty.
  std::function<int(std::int64_t line)> homeOf;
};

/// Options of trace().
struct TraceOptions {
  StepRules rules;
  bool forward = true;
  bool backward = false;
  ExchangeOptions exchange;
  /// On all ranks or on none. Only with the schedule Asynchronous.
  std::optional<TraceLending> lending;
  /// In an unsteady field, without StepRules::record: whether to record the last position of each
  /// line that ends with Reason::OutOfTime.
  bool recordEnds = false;
  /// In an unsteady field with events: what the line of a seed of this rank, which has ended in
  /// another trace, has done there. Numbers, lengths and ages then go on from there. On all ranks
  /// or on none; if it is empty, all lines begin at their seeds.
  std::function<LineProgress(const Seed&)> progressOf;
  ParallelFor parallelFor = serialFor;  ///< Runs over the particles of a block.
  /// Called between batches with an estimate of progress in [0, 1]: the number of lines that ended
  /// on this rank over the number that began here. Returns false to abort on all ranks. May be
  /// empty.
  std::function<bool(double)> monitor;
};

/// The result of trace() on this rank. Each recorded point is on exactly one rank, in the log of
/// the block or copy that evaluated it, and the end of each line is on exactly one rank.
struct TraceResult {
  /// A copy of another rank's block, and what was recorded there.
  struct Borrowed {
    std::shared_ptr<const FieldBlock> block;
    std::vector<TrajectoryLog> logs;
  };

  std::vector<std::vector<TrajectoryLog>> logs;  ///< Per block of this rank.
  std::vector<Borrowed> borrowed;                ///< Copies in which points were recorded.
  std::vector<LineEnd> ends;                     ///< In no particular order.
  ExchangeStatistics statistics;
  std::int64_t points = 0;     ///< Recorded on this rank.
  std::int64_t handovers = 0;  ///< Particles sent to another block.
  LendingStatistics lending;
  bool aborted = false;
};

/// Local. Throws Error if an option or a seed is not valid in any domain.
void requireValid(const TraceOptions& options, Span<const Seed> seeds);
/// Local. Throws Error if a domain does not have the blocks that its assignment gives this rank.
void requireBlocks(const Transport& transport, const Domain& domain);

/// Traces the lines of all seeds through the field, or the paths of particles through one interval
/// of an unsteady field (StepRules::interval). Collective.
///
/// Any rank may pass any seed: its block is found by a search. The line of a seed outside all cells
/// ends with Reason::NotInitialized and has no points. Points, times and reasons do not depend
/// on the number of ranks, blocks or threads, on the schedule, on message timing or on lending;
/// README.md in this folder gives the reasons.
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
