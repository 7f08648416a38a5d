// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>

namespace tributary {

/// The variants of hybrid Jacobi iterations, which differ in the thread that communicates. In
/// brackets the names of the paper: E. J. Jensen, E. Coleman, M. Sosonkina, "Predictive modeling
/// of the performance of asynchronous iterative methods", The Journal of Supercomputing 75, 2019,
/// section 4.
enum class HybridVariant {
  WorkScaling,             ///< the first thread communicates and has a smaller block [WS1, WSX]
  RotatingIncrementing,    ///< the threads communicate in turns [RTINC]
  RotatingMostIterations,  ///< the thread with the most iterations communicates next [RTMAXIT]
  RotatingLeastResidual,   ///< the thread with the smallest residual communicates next [RTMNRS]
  AsynchronousDirect,      ///< a dedicated thread communicates; neighbor ranks wait for each other
                           ///< [ASNCDIR]
  SynchronousDirect,  ///< all threads of a rank, and neighbor ranks, wait for each other [SNCDIR]
  SharedMemory        ///< one rank, no communication [SHRD]
};

/// The route of halos and residuals between ranks, for variants in which no rank waits for a
/// neighbor.
enum class HybridTraffic {
  Master,  ///< through rank 0, which computes nothing, as in the paper
  Direct   ///< halos between neighbors, of which the newest is used; residuals by reductions
};

/// How a thread reads values that another thread keeps changing.
enum class Captures {
  Locked,   ///< copied under a lock, as in the paper
  LockFree  ///< handed over by one atomic exchange of buffers
};

/// The parameters of hybrid Jacobi iterations.
struct HybridOptions {
  /// The same on all ranks. Default: WorkScaling.
  HybridVariant variant = HybridVariant::WorkScaling;
  /// The same on all ranks. Default: Direct.
  HybridTraffic traffic = HybridTraffic::Direct;
  /// Default: LockFree.
  Captures captures = Captures::LockFree;
  /// Threads of this rank, including the calling thread. Default: 1.
  int threads = 1;
  /// WorkScaling only: layers of the communicating thread relative to an equal share, in (0, 1]
  /// [the X of WSX]. Default: 1.
  double workShare = 1;
  /// Iterations of a thread between two swaps of halos. Default: 1.
  int swapPeriod = 1;
  /// Iterations of a thread between two residuals. Default: 10.
  int residualPeriod = 10;
  /// Limit of the 2-norm of the residual relative to that of the initial guess. The same on all
  /// ranks. Default: 1e-4.
  double tolerance = 1e-4;
  /// Limit of the iterations of each thread. Default: 10 million.
  std::int64_t iterationLimit = 10'000'000;
  /// Limit of the wall time of run() in seconds. Default: none.
  double timeLimit = std::numeric_limits<double>::infinity();
  /// In a period of this many iterations, a thread times the operations of one iteration, the whole
  /// of another, and all layers together of a third (if the period is at least 3). 0 for no timing.
  /// Default: 0.
  int timingPeriod = 0;
  /// The size in bytes from which the arrays of a rank are written past the caches. Default: the
  /// size of the largest cache.
  std::optional<std::size_t> cacheBytes;
  /// Whether HybridResult::history is recorded. Default: false.
  bool history = false;
  /// Called by each thread after each of its iterations, for instance to slow threads down.
  std::function<void(int thread)> afterIteration;
};

}  // namespace tributary
