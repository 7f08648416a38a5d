// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "Tributary/Model/HybridSetting.h"
#include "Tributary/Model/OperationModel.h"
#include "Tributary/Model/OperationTimes.h"

namespace tributary {

/// What modeled iterations came to.
struct SimulatedIterations {
  /// Of all threads, with their seconds.
  std::vector<std::pair<IterationKind, double>> iterations;
  /// Iterations per second, of each subregion's threads that compute.
  std::vector<std::vector<double>> rates;
  /// Means over subregions of the first thread's iterations, or the dedicated one's swaps, per
  /// second, and of the others' iterations; the latter not a number if there are no others.
  double communicatingRate = 0;
  double otherRate = 0;
  /// Mean seconds from one swap of a subregion to the next; infinite if there are fewer than two.
  double secondsBetweenSwaps = 0;
  double masterLoad = 0;  ///< Part of the time for which the master is busy.
  double masterWait = 0;  ///< Mean seconds for which questions wait for the master to be free.
};

/// Hybrid Jacobi iterations as events in virtual time: Figure 6 of E. Jensen, E. Coleman, M.
/// Sosonkina, *Predictive modeling of the performance of asynchronous iterative methods*. The same
/// seconds for the same arguments, to the last bit. Local.
///
/// Each thread, and the master, is a rank of a timed network (Core/Transport) whose links cost
/// nothing: transfers are drawn like operations, half on the way there, half on the way back, and
/// questions wait for the master in the order in which they come. A thread makes the operations of
/// HybridJacobi::run() (Core/Relaxation) in their order: it copies what is new from its neighbors
/// and of the halo, computes layer by layer, and so on. Between ranks without a master, a transfer
/// is all there is; only dedicated threads wait for those of neighboring subregions too. Each
/// iteration looks at the clock once, which takes as long as what timing adds to an operation.
///
/// Throws Error if the setting makes no sense, or has another stencil or layers of another size
/// than the model was measured of.
/// @param seconds  of virtual time
SimulatedIterations simulateIterations(const HybridSetting& setting, const OperationModel& model,
                                       double seconds, std::uint64_t seed = 1);

/// Seconds of the iterations of a kind.
struct KindSummary {
  IterationKind kind;
  std::vector<double> seconds;  ///< As they came.
  double mean = 0;
  double deviation = 0;  ///< Standard deviation.
};

/// By kind, in the order of their names.
std::vector<KindSummary> summarize(const std::vector<std::pair<IterationKind, double>>& iterations);

/// How far modeled seconds are from measured ones, as parts of the measured.
struct ModelError {
  /// Mean of the modeled ones over mean of the measured ones, less 1.
  double ofMeans = 0;
  /// Mean and standard deviation of (modeled - measured) / measured over pairs, as in Tables 1 and
  /// 3 of the paper. The n-th of one list is paired with the n-th of the other, of which the
  /// shorter one begins anew when it ends.
  double ofPairs = 0;
  double deviation = 0;
  /// What ofPairs is, on average, if the measured ones themselves in any other order are the model:
  /// mean of the measured times mean of 1 / measured, less 1. It is above 0 as soon as they vary,
  /// about the square of their relative deviation.
  double ofPairsIfPerfect = 0;
};
/// Throws Error if there are no samples, or if a measured one is not positive.
ModelError errorOfModel(const KindSummary& modeled, const KindSummary& measured);

}  // namespace tributary
