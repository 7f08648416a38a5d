// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "Tributary/Model/OperationTimes.h"
#include "Tributary/Model/Subregion.h"
#include "Tributary/Model/detail/JacobiBlock.h"
#include "Tributary/Model/detail/LatestValue.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Hybrid Jacobi iterations, by what the threads of a rank do about the other ranks. Names of the
/// paper in brackets.
enum class HybridVariant {
  WorkScaling,             ///< one thread communicates and has a smaller block [WS1, WSX]
  RotatingIncrementing,    ///< the threads communicate in turns [RTINC]
  RotatingMostIterations,  ///< the one that has made most iterations does next [RTMAXIT]
  RotatingLeastResidual,   ///< the one with the smallest residual does next [RTMNRS]
  AsynchronousDirect,  ///< one thread does nothing else, neighbors wait for each other [ASNCDIR]
  SynchronousDirect,   ///< all threads wait for each other, and neighbors too [SNCDIR]
  SharedMemory         ///< one rank, nothing to communicate [SHRD]
};

/// The way of halos and residuals between ranks, where nobody waits for a neighbor.
enum class HybridTraffic {
  Master,  ///< through rank 0, which computes nothing, as in the paper
  Direct   ///< between neighbors, the newest values win; the residual by non-blocking reductions
};

struct HybridOptions {
  HybridVariant variant = HybridVariant::WorkScaling;
  HybridTraffic traffic = HybridTraffic::Direct;
  detail::Captures captures = detail::Captures::LockFree;
  int threads = 1;  ///< Of this rank, the calling one included.
  /// Layers of the communicating thread as a part of an equal share [the X of WSX].
  double workShare = 1;
  int swapPeriod = 1;       ///< Halos are swapped after every so many iterations of a thread.
  int residualPeriod = 10;  ///< And the residual is computed after so many.
  /// Of the residual's 2-norm as a part of the one of the guess.
  double tolerance = 1e-4;
  std::int64_t maximumIterations = 10'000'000;  ///< Of any thread.
  double maximumSeconds = std::numeric_limits<double>::infinity();
  /// One in so many iterations of a thread has its operations timed, another one is timed as a
  /// whole, and of a third one the layers together (of 1 and 2 there is no third one); 0: none.
  int timingPeriod = 0;
  /// Where the two arrays of a rank's points take more, what is written goes past the caches. None:
  /// the largest cache of the machine.
  std::optional<std::size_t> cacheBytes;
  /// Whether the result has a history.
  bool history = false;
  /// Called by each thread after each of its iterations; to slow some down, or watch.
  std::function<void(int thread)> afterIteration;
};

/// The residual's way down, as one rank saw it: of different moments, until it is verified.
struct HybridSample {
  double seconds = 0;           ///< since run() began
  std::int64_t iterations = 0;  ///< of this rank's block with the fewest
  double residual = 0;          ///< as a part of the guess's
  bool verified = false;
};

struct HybridResult {
  /// Whether the tolerance is met. If not, a limit was reached, or a number is not finite, or
  /// rounding leaves no lower residual.
  bool converged = false;
  double residual = 0;       ///< Verified: of the values as they are; as a part of the guess's.
  double guessResidual = 0;  ///< 2-norm of the residual of the guess.
  int rounds = 0;            ///< Times that the threads ran until the residual seemed low enough.
  double seconds = 0;        ///< Of the rounds, verification included.
  std::vector<std::int64_t> iterations;  ///< Of this rank's blocks.
  std::vector<double> squaredResiduals;  ///< Verified, of this rank's blocks.
  /// For how long the threads of this rank's blocks had a core in the rounds.
  std::vector<double> coreSeconds;
  /// Of this rank's blocks; then those of a dedicated thread, or of a master. Iterations that were
  /// interrupted are kept apart, except where threads wait for others (SynchronousDirect), who have
  /// no core meanwhile anyway.
  std::vector<OperationTimes> times;
  std::vector<HybridSample> history;  ///< If asked for; of a master only what is verified.
};

/// Asynchronous and synchronous Jacobi iterations for Laplace's equation on ranks and threads: the
/// implementations of E. Jensen, E. Coleman, M. Sosonkina, *Predictive modeling of the performance
/// of asynchronous iterative methods*, section 4, all of them.
///
/// A rank has a box of the points, and each of its threads a block of its layers. Threads see each
/// other's outermost layers whole, as of one iteration (`LatestValue`). One thread at a time
/// communicates. Asynchronous iterations find out about convergence by residuals of different
/// moments (HybridJudge); so what they end with is verified by the residual of all values as they
/// are, and they go on with a lower threshold if it is not met. SynchronousDirect with a swap
/// period of 1 gives the bits of Jacobi's method on one thread.
///
/// Threads are the standard library's: unlike OpenMP's, the thread sanitizer understands them, and
/// ParaView has none of that. Variants in which the thread that communicates changes need a
/// transport whose threads may take turns (MPI_THREAD_SERIALIZED).
class HybridJacobi {
 public:
  /// Collective. Throws Error on all ranks if options are wrong, or differ where they must not.
  /// @param transport  outlives it; @param problem  the same on all ranks, kept
  HybridJacobi(Transport& transport, const LaplaceProblem& problem, const HybridOptions& options);
  ~HybridJacobi();

  /// Iterates. Collective; throws Error on all ranks if a callback throws on one. Once.
  HybridResult run();

  /// This rank's points; empty on a master.
  const CellRange& box() const { return subregion_->box(); }
  /// Value at a point of the box, after run() or before.
  double value(std::int64_t i, std::int64_t j, std::int64_t k) const;

 private:
  class Team;

  double verify();

  Transport& transport_;
  LaplaceProblem problem_;
  HybridOptions options_;
  std::vector<CellRange> boxes_;
  std::unique_ptr<Subregion> subregion_;
  std::vector<std::unique_ptr<detail::JacobiBlock>> blocks_;
  detail::DatedValues boundary_, halo_;  ///< Of the values that were verified last.
};

}  // namespace tributary
