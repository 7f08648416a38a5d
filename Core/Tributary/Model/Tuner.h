// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Tributary/Model/HybridSetting.h"
#include "Tributary/Model/OperationModel.h"

namespace tributary {

/// The result of a short run of hybrid Jacobi iterations.
struct PilotRun {
  HybridSetting setting;
  /// Final residual, relative to that of the initial guess: HybridResult::residual.
  double residual = 0;
  /// The iterations of each block, in the order of subregions: HybridResult::iterations of all
  /// ranks.
  std::vector<std::int64_t> iterations;
};

/// The performance that the tuner expects of a setting.
struct Expectation {
  HybridSetting setting;
  double seconds = 0;     ///< Time to the tolerance.
  double iterations = 0;  ///< Iterations of a block, mean over blocks.
  /// Mean age of halo values when they are used, in iterations of a block; 0 without neighbors.
  double staleness = 0;
  double communicatingRate = 0;  ///< Iterations per second of the communicating threads.
  double otherRate = 0;          ///< Of the other threads; NaN without other threads.
};

/// The relative error of the expected time: (expected.seconds - measuredSeconds) / measuredSeconds.
/// It is negative if the run took longer than expected. Throws Error if measuredSeconds is not
/// positive.
[[nodiscard]] double howFarOff(const Expectation& expected, double measuredSeconds);

/// Recommends a swap period and a work share, which are chosen by eye in E. J. Jensen, E. Coleman,
/// M. Sosonkina, "Predictive modeling of the performance of asynchronous iterative methods", The
/// Journal of Supercomputing 75, 2019, section 6.1.
///
/// The time to the tolerance depends on the rate of iterations, which the event simulation
/// predicts, and on their number. The slowest mode of the error is smooth. A halo that is s
/// iterations old slows this mode as if a part b of its coupling arrived s iterations late: if an
/// iteration reduces the mode by the factor 1 - e, then e becomes e / (1 + b s), to first order in
/// e. Therefore the tolerance is reached after N(s) = N0 (1 + b s) iterations. Two short runs with
/// different swap periods determine N0 and b. If blocks have different rates r_i, the same
/// perturbation argument replaces 1 / rate by the mean of 1 / r_i, weighted by points: a mean of
/// seconds per iteration. So
///
///     seconds = N0 (1 + b s) (mean over blocks of seconds per iteration).
///
/// Limits: the model holds for smooth errors and small e s, that is, for tolerances that are
/// reached after many swaps. In a short run to a higher tolerance than the requested one, the error
/// still contains fast modes. Then the expected seconds are too few, but the order of settings does
/// not change, because all settings contain these modes alike. Captures that delay other threads,
/// and cores shared by threads, are modeled only as far as the measured operations contain them.
class Tuner {
 public:
  /// Local. Throws Error if there are fewer than two pilots, if their swap periods or their
  /// simulated staleness are equal, if a residual is not in (0, 1), or unless `iterations` has one
  /// positive entry for each block of the setting.
  /// @param model    must outlive the tuner
  /// @param seconds  duration of each simulation in virtual time
  Tuner(const OperationModel& model, const std::vector<PilotRun>& pilots, double seconds,
        std::uint64_t seed = 1);

  /// The number of iterations to a tolerance of 1 / e (Euler's number) with fresh halos. A
  /// tolerance t takes -log(t) times as many.
  double iterationsOfFreshHalos() const { return fresh_; }
  /// The coefficient b; 0 if stale halos did not slow convergence in the pilots.
  double harmOfStaleness() const { return harm_; }

  /// Computes the expectation for a setting. Local. Throws the errors of simulateIterations(), and
  /// Error if the tolerance is not in (0, 1).
  [[nodiscard]] Expectation expect(const HybridSetting& setting, double tolerance) const;
  /// Computes the expectations for all pairs of a swap period and a work share, the fastest first.
  /// Throws Error if there are no pairs.
  [[nodiscard]] std::vector<Expectation> recommend(const HybridSetting& setting, double tolerance,
                                                   const std::vector<int>& swapPeriods,
                                                   const std::vector<double>& workShares) const;

 private:
  struct Pace {
    double secondsPerIteration, staleness, communicatingRate, otherRate;
  };
  Pace paceOf(const HybridSetting& setting) const;

  const OperationModel& model_;
  double seconds_;
  std::uint64_t seed_;
  double fresh_ = 0, harm_ = 0;
};

}  // namespace tributary
