// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "Tributary/Model/HybridSetting.h"
#include "Tributary/Model/OperationModel.h"
#include "Tributary/Model/OperationTimes.h"

namespace tributary {

/// The result of a simulation.
struct SimulatedIterations {
  /// The iterations of all threads, with their seconds.
  std::vector<std::pair<IterationKind, double>> iterations;
  /// Iterations per second, by subregion and computing thread.
  std::vector<std::vector<double>> rates;
  /// Iterations per second of the first thread, or swaps per second of a dedicated thread; mean
  /// over subregions.
  double communicatingRate = 0;
  /// Iterations per second of the other threads, mean over subregions; NaN without other threads.
  double otherRate = 0;
  /// Mean seconds between two swaps of a subregion; infinite with fewer than two swaps.
  double secondsBetweenSwaps = 0;
  double masterLoad = 0;  ///< Share of the time in which the master is busy.
  double masterWait = 0;  ///< Mean seconds for which messages wait for the master.
};

/// Simulates hybrid Jacobi iterations as events in virtual time: E. J. Jensen, E. Coleman, M.
/// Sosonkina, "Predictive modeling of the performance of asynchronous iterative methods", The
/// Journal of Supercomputing 75, 2019, figure 6. Equal arguments give equal results, bit for bit.
/// Local.
///
/// Each thread, and the master, is a rank of a virtual-time network (Transport/Simulated.h) whose
/// links cost nothing. Transfers are drawn like operations, one half for each direction. The master
/// processes messages in the order of their arrival. A thread performs the operations of
/// HybridJacobi::run() in the same order: it copies new values of its neighbors and of the halo,
/// computes layer by layer, and so on. Without a master, communication between ranks consists of
/// transfers only; dedicated threads also wait for those of adjacent subregions. Each iteration
/// reads the clock once, which takes as long as timing adds to an operation.
///
/// Throws Error if the setting is invalid, or if its stencil or the size of its layers differs from
/// that of the measurements.
/// @param seconds  duration of the simulation in virtual time
[[nodiscard]] SimulatedIterations simulateIterations(const HybridSetting& setting,
                                                     const OperationModel& model, double seconds,
                                                     std::uint64_t seed = 1);

/// The durations of the iterations of a kind.
struct KindSummary {
  IterationKind kind;
  std::vector<double> seconds;  ///< In order of occurrence.
  double mean = 0;
  double deviation = 0;  ///< Standard deviation.
};

/// Groups iterations by kind, in the order of the names of the kinds.
[[nodiscard]] std::vector<KindSummary> summarize(
    const std::vector<std::pair<IterationKind, double>>& iterations);

/// The relative errors of modeled durations.
struct ModelError {
  /// The ratio of the modeled to the measured mean, minus 1.
  double ofMeans = 0;
  /// The mean of (modeled - measured) / measured over pairs, as in Tables 1 and 3 of the paper. The
  /// n-th samples of both lists form a pair; the shorter list is repeated.
  double ofPairs = 0;
  /// The standard deviation of the same.
  double deviation = 0;
  /// The expected value of `ofPairs` for a perfect model, that is, for the measured samples in
  /// random order: the mean of the samples times the mean of their inverses, minus 1. Positive if
  /// samples vary: about the square of their relative deviation.
  double ofPairsIfPerfect = 0;
};
/// Computes the errors. Throws Error if there are no samples, or if a measured sample is not
/// positive.
[[nodiscard]] ModelError errorOfModel(const KindSummary& modeled, const KindSummary& measured);

}  // namespace tributary
