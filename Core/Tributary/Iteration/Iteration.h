// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "Tributary/Base/Span.h"
#include "Tributary/Iteration/Channels.h"
#include "Tributary/Iteration/NonBlockingReduce.h"
#include "Tributary/Iteration/ResidualReduction.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// The order of computation and communication.
enum class IterationSchedule {
  /// Each rank waits for the values of its neighbors of the previous iteration. Receives are active
  /// while a rank computes, and the measure is reduced while values are in flight (Algorithm 2).
  Synchronous,
  /// No rank waits: a rank sweeps with the newest values that it has received (Algorithm 3).
  Asynchronous,
  /// The same iterates as Synchronous, without overlap: compute, then send and receive, then reduce
  /// (Algorithm 1). For comparison.
  Trivial
};

/// How asynchronous iterations detect convergence.
enum class ConvergenceDetection {
  /// SSAR: successive snapshots, and the norm of the residual of each (Algorithm 6).
  SnapshotReduction,
  /// SB96: a snapshot after the local measure of every rank has reached the threshold, and the norm
  /// of its residual (Algorithms 4 and 5; S. A. Savari, D. P. Bertsekas, "Finite termination of
  /// asynchronous iterative algorithms", Parallel Computing 22, 1996).
  SupervisedTermination
};

/// The part of one rank in a fixed-point iteration x := f(x). Callbacks must not wait for other
/// ranks.
struct IterationProblem {
  /// The ranks on whose values this part depends, and those that depend on values of this part,
  /// each once. Must be symmetric: if rank a lists rank b, then b lists a, possibly with 0 values.
  std::vector<Neighbor> neighbors;
  /// The part x_i of this rank, in memory of the caller. Neighbors first receive the interface
  /// values of its initial value. At the end it contains this part of the last snapshot. If it is
  /// empty, asynchronous iterations do not call sweep().
  Span<double> iterate;
  /// Computes x_i := f_i(x_i, incoming) in place, by one sweep or several.
  /// @param measure  whether the result is used; if not, the callback may return 0
  /// @return a local measure of convergence in the chosen norm, for instance that of the change. It
  ///         decides when the residual is verified, never whether the iteration has converged.
  std::function<double(const Incoming& incoming, bool measure)> sweep;
  /// Writes all interface values of the present iterate for a neighbor.
  std::function<void(std::size_t neighbor, Span<double> values)> fill;
  /// Computes the residual, in the chosen norm, of a recorded iterate of this rank. Must neither
  /// read nor change `iterate`.
  /// @param incoming  the interface values of the recorded iterates of the neighbors
  std::function<double(Span<const double> recorded, const Incoming& incoming)> residual;
};

/// The parameters of an iteration. The same on all ranks, except `channels`.
struct IterationOptions {
  IterationSchedule schedule = IterationSchedule::Asynchronous;
  ConvergenceDetection convergenceDetection = ConvergenceDetection::SnapshotReduction;
  ReductionKind reduction = ReductionKind::LeaderElection;
  Norm norm = Norm::Max;
  /// Limit of the norm of the residual, at least 0. Default: 1e-6.
  double residualThreshold = 1e-6;
  /// Maximum number of sweeps of a rank. When a rank reaches it, the iteration ends with the next
  /// snapshot. Default: 1,000,000.
  std::int64_t iterationLimit = 1000000;
  /// Synchronous and Trivial: the number of iterations between two checks of the measure.
  /// Asynchronous: the minimum number of sweeps of a rank between two snapshots. Default: 1.
  std::int64_t checkInterval = 1;
  ChannelOptions channels;
};

/// How an iteration ended.
enum class Verdict : std::int32_t {
  Converged,       ///< the norm of the residual is at or below the threshold
  IterationLimit,  ///< a rank has reached the iteration limit
  NotFinite,       ///< the residual or a measure is NaN or infinite
  Aborted          ///< a rank called abort()
};

/// The result of an iteration: the same on all ranks.
struct IterationResult {
  Verdict verdict = Verdict::Aborted;
  double residual = 0;          ///< norm of the residual of the returned iterate, for any verdict
  std::int64_t iterations = 0;  ///< maximum number of sweeps of a rank
  std::int64_t snapshots = 0;   ///< global iterates whose residual was computed
};

/// An entry of the convergence history of a rank.
struct ConvergenceSample {
  std::int64_t iterations = 0;  ///< sweeps of this rank when it learned the norm
  double seconds = 0;           ///< since construction
  double norm = 0;              ///< the same on all ranks
  /// Whether `norm` is the residual of a global iterate; otherwise it is that of local measures.
  bool verified = false;
};

/// Counters and wall times of an iteration on one rank, or on all ranks (see reduceStatistics()).
struct IterationStatistics {
  std::int64_t iterations = 0;  ///< sweeps of this rank
  std::int64_t snapshots = 0;   ///< global iterates whose residual was computed
  std::int64_t sent = 0;        ///< messages with interface values sent
  std::int64_t unsent = 0;      ///< values replaced by newer ones while the link was busy
  std::int64_t received = 0;    ///< messages with interface values received
  std::int64_t superseded = 0;  ///< received together with a newer message and never used
  std::int64_t bytes = 0;       ///< of the messages sent
  std::int64_t protocol = 0;    ///< messages of snapshots, reductions, the tree and notices
  double computingSeconds = 0;  ///< in sweep()
  double verifyingSeconds = 0;  ///< in residual()
  double idleSeconds = 0;       ///< in turns without a sweep
  double totalSeconds = 0;      ///< from construction to the end

  /// Adds the counters of a later iteration on the same rank.
  IterationStatistics& operator+=(const IterationStatistics& next);
};

/// Combines the statistics of all ranks: the maximum of `iterations`, `snapshots`, `unsent` and
/// `totalSeconds`, and the sum of all other members. Collective; the same result on all ranks.
[[nodiscard]] IterationStatistics reduceStatistics(Transport& transport,
                                                   const IterationStatistics& mine);

/// Distributed fixed-point iterations, synchronous or asynchronous, that end with a residual
/// verified on a consistent global iterate. Source: F. Magoulès, G. Gbikpi-Benissan, "JACK2: An
/// MPI-based communication library with non-blocking synchronization for asynchronous iterations",
/// Advances in Engineering Software 119, 2018, doi:10.1016/j.advengsoft.2018.01.009. The README.md
/// of this folder describes the algorithms.
///
/// Collective: constructed and run on all ranks of the transport, and not destroyed before the end.
class Iteration {
 public:
  /// Collective. Throws Error on all ranks if an argument is invalid on any rank, if the neighbors
  /// of two ranks do not match, or if options differ among ranks.
  /// @param transport  must outlive the iteration. An exchange or another iteration may run at the
  ///                   same time on it if this iteration reduces by leader election, or if the
  ///                   other one uses neither barriers nor all-reduces.
  Iteration(Transport& transport, IterationProblem problem, IterationOptions options);
  ~Iteration();

  /// Sets a further condition for convergence, for instance that an exchange which changes the
  /// problem has ended. The iteration converges only with a snapshot during which the conditions of
  /// all ranks held. Local; must be called before the first turn.
  void require(std::function<bool()> condition);

  /// Makes one non-blocking turn with at most one sweep. Local. Throws Error in the last turn if a
  /// callback threw on any rank: the error of this rank, or of one that failed.
  /// @return true once the end of the iteration is known on all ranks
  [[nodiscard]] bool advance();
  /// Whether the last turn only waited.
  [[nodiscard]] bool idle() const;

  /// Calls advance() until the end. Collective. Throws the errors of advance().
  /// @param monitor  called between turns; if it returns false, the iteration is aborted on all
  ///                 ranks
  const IterationResult& run(const std::function<bool()>& monitor = {});

  /// Ends the iteration on all ranks with the next snapshot. Local.
  void abort();

  /// @pre the iteration has ended
  [[nodiscard]] const IterationResult& result() const;
  /// The values of the neighbors with which the residual of the last snapshot was computed.
  /// @pre the iteration has ended
  [[nodiscard]] const Incoming& recordedIncoming() const;
  /// All norms that this rank has learned so far. Asynchronous: of the residual of each snapshot.
  /// Otherwise: of the measures of each check, and of residuals that were verified.
  [[nodiscard]] const std::vector<ConvergenceSample>& history() const;
  /// The present counters of this rank.
  [[nodiscard]] const IterationStatistics& statistics() const;
  /// Describes the state of this rank, for reports.
  [[nodiscard]] std::string state() const;

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace tributary
