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

enum class IterationMode {
  /// Every rank waits for its neighbors' values of the last iteration, which travel while it
  /// computes, and the measure is reduced while they travel (Algorithm 2).
  Synchronous,
  /// Nobody waits: a rank sweeps with the newest values that it has (Algorithm 3).
  Asynchronous,
  /// As Synchronous, but one after the other: compute, then send and receive, then reduce
  /// (Algorithm 1). The same iterates; for comparison.
  Trivial
};

/// How asynchronous iterations find out that they may stop.
enum class ConvergenceDetection {
  /// SSAR: snapshots, one after the other, and the norm of each one's residual (Algorithm 6).
  SnapshotReduction,
  /// SB96: a snapshot when all ranks have seen their local measure at the threshold (Algorithms 4
  /// and 5; S. A. Savari, D. P. Bertsekas, "Finite termination of asynchronous iterative
  /// algorithms", Parallel Computing 22, 1996), and the norm of its residual.
  SupervisedTermination
};

/// One rank's part of a fixed-point iteration x := f(x). Callbacks must not wait for other ranks.
struct IterationProblem {
  /// The ranks whose values this rank's part depends on or that depend on this rank's, each once:
  /// several pieces of data for one rank are put together by the caller. Symmetric: each is a
  /// neighbor of the other, if only with 0 values.
  std::vector<Neighbor> neighbors;
  /// This rank's part x_i, the caller's. Its initial values are those of the first interface values
  /// that the neighbors get; at the end it is that part of the last snapshot. Where it is empty,
  /// asynchronous iterations do not call sweep().
  Span<double> iterate;
  /// x_i := f_i(x_i, incoming), in place; one sweep or several.
  /// @param measure  whether the result is needed; where it is not, 0 may be returned
  /// @return a local measure of convergence to be compared with the threshold, of this rank's part
  ///         in the norm chosen, such as that of the change. It decides when it is worth while to
  ///         verify, never whether the iteration has converged.
  std::function<double(const Incoming& incoming, bool measure)> sweep;
  /// Writes the interface values of the iterate as it is now, all `values.size()` of them, for a
  /// neighbor.
  std::function<void(std::size_t neighbor, Span<double> values)> fill;
  /// The residual, in the norm chosen, of a recorded iterate of this rank, with the values that its
  /// neighbors' recorded iterates have for it. Must neither change nor read the iterate itself.
  std::function<double(Span<const double> recorded, const Incoming& incoming)> residual;
};

struct IterationOptions {
  IterationMode mode = IterationMode::Asynchronous;
  ConvergenceDetection detection = ConvergenceDetection::SnapshotReduction;
  ReductionKind reduction = ReductionKind::LeaderElection;
  Norm norm = Norm::Max;
  double threshold = 1e-6;  ///< of the residual's norm, at least 0
  /// No rank sweeps more often; when one has, the iteration ends with the next snapshot.
  std::int64_t iterationLimit = 1000000;
  /// Synchronous and trivial: residuals are looked at after every so many iterations; asynchronous:
  /// a rank sweeps at least so often between two snapshots.
  std::int64_t checkInterval = 1;
  ChannelOptions channels;
};

enum class Verdict : std::int32_t {
  Converged,       ///< the residual of the recorded iterate is at or below the threshold
  IterationLimit,  ///< it is not, and some rank has reached the limit
  NotFinite,       ///< it is not a number, or infinite
  Aborted          ///< some rank called abort()
};

/// What an iteration came to: the same on all ranks.
struct IterationResult {
  Verdict verdict = Verdict::Aborted;
  double residual = 0;          ///< norm of the recorded iterate's residual, whatever the verdict
  std::int64_t iterations = 0;  ///< sweeps of the rank with the most
  std::int64_t snapshots = 0;   ///< residuals of global iterates that were computed
};

/// The residual's way to the threshold, as one rank saw it.
struct ConvergenceSample {
  std::int64_t iterations = 0;  ///< sweeps of this rank when it came to know
  double seconds = 0;           ///< since construction
  double norm = 0;              ///< the same on all ranks
  /// Whether it is that of the residual of a global iterate, or of the sweeps' measures.
  bool verified = false;
};

/// What it cost on one rank, or on all (see reduceStatistics). Seconds are wall time.
struct IterationStatistics {
  std::int64_t iterations = 0;  ///< sweeps of this rank
  std::int64_t snapshots = 0;   ///< residuals of global iterates
  std::int64_t sent = 0;        ///< messages with interface values that left
  std::int64_t unsent = 0;      ///< that did not, as the link was busy until newer values came
  std::int64_t received = 0;    ///< messages with interface values that came
  std::int64_t superseded = 0;  ///< of these, never seen, as a newer one came with them
  std::int64_t bytes = 0;       ///< of the messages that left
  std::int64_t protocol = 0;    ///< messages of snapshots, reductions and the like that left
  double computingSeconds = 0;  ///< in sweep()
  double verifyingSeconds = 0;  ///< in residual()
  double idleSeconds = 0;       ///< in turns without a sweep
  double totalSeconds = 0;      ///< from construction to the end

  /// Of several iterations, one after the other.
  IterationStatistics& operator+=(const IterationStatistics& next);
};

/// Over all ranks, collective, the same result everywhere: sums, except for the largest of
/// `iterations`, `snapshots`, `unsent` and `totalSeconds`.
IterationStatistics reduceStatistics(Transport& transport, const IterationStatistics& mine);

/// Distributed fixed-point iterations, synchronous or not, that end with a residual verified on a
/// consistent global iterate: F. Magoules, G. Gbikpi-Benissan, "JACK2: An MPI-based communication
/// library with non-blocking synchronization for asynchronous iterations", Advances in Engineering
/// Software 119, 2018. Collective: constructed and run on all ranks of the transport, and not
/// destroyed before the end. See Core/Iteration/README.md.
class Iteration {
 public:
  /// @param transport  outlives the iteration. Other collective activities may run beside it on the
  ///                   same transport if the reduction is by leader election, or if the others use
  ///                   no barriers and all-reduces.
  /// Collective. Throws Error on all ranks if an argument is wrong on any, if neighbors' sizes do
  /// not fit, or if ranks were given different options.
  Iteration(Transport& transport, IterationProblem problem, IterationOptions options);
  ~Iteration();

  /// A condition beyond the residual, of this rank: the iteration does not converge with a snapshot
  /// that was taken when a rank's condition did not hold, such as that an exchange that changes the
  /// problem has ended. To be called before the first turn.
  void require(std::function<bool()> condition);

  /// One non-blocking turn: at most one sweep. @return true once all ranks know the end. Throws
  /// Error, once and at the end only, if a callback threw: on its rank its text, on the others that
  /// of a rank with an error.
  bool advance();
  /// Whether the last turn could do nothing but wait.
  bool idle() const;

  /// Spins advance() to the end; `monitor` is called between turns, and if it returns false the
  /// iteration is aborted on all ranks.
  const IterationResult& run(const std::function<bool()>& monitor = {});

  /// Local, obeyed by all ranks: ends the iteration with the next snapshot.
  void abort();

  /// @pre the end
  const IterationResult& result() const;
  /// Of the last snapshot: the neighbors' values that its residual was computed with. @pre the end
  const Incoming& recordedIncoming() const;
  /// All norms so far: of each snapshot's residual in asynchronous iterations, of each check's
  /// measures, and of the residuals that followed them, in the others.
  const std::vector<ConvergenceSample>& history() const;
  /// This rank's counters so far.
  const IterationStatistics& statistics() const;
  /// For people: what this rank is doing.
  std::string state() const;

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace tributary
