// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Tributary/Model/HybridSetting.h"
#include "Tributary/Model/OperationModel.h"

namespace tributary {

/// How far a short run of hybrid Jacobi iterations came.
struct PilotRun {
  HybridSetting setting;
  double residual = 0;  ///< At the end, as a part of the guess's: HybridResult::residual.
  /// Of each block that there is, in the order of subregions: HybridResult::iterations of all
  /// ranks.
  std::vector<std::int64_t> iterations;
};

/// What the tuner expects of a setting.
struct Expectation {
  HybridSetting setting;
  double seconds = 0;     ///< To the tolerance.
  double iterations = 0;  ///< Of a block, in the mean.
  /// Mean age of halo values when they are used, in iterations of a block; 0 without neighbors.
  double staleness = 0;
  double communicatingRate = 0;  ///< Iterations per second of the threads that communicate.
  double otherRate = 0;          ///< Of the others; not a number if there are none.
};

/// How far off it was: (expected - measured) / measured seconds. Throws Error unless positive.
double howFarOff(const Expectation& expected, double measuredSeconds);

/// Recommends a swap period and a work share, which the paper's section 6.1 chooses by eye.
///
/// Two things decide: how fast iterations are, which the event simulation tells, and how many it
/// takes. The slowest mode of the error is smooth. A halo that is s iterations old slows it as if
/// a part b of its coupling came s iterations late: of a mode that shrinks by 1 - e an iteration,
/// e becomes e / (1 + b s) to first order in e. So N(s) = N0 (1 + b s) iterations reach the
/// tolerance, and two short runs with different swap periods tell N0 and b. Where blocks have
/// different rates r_i, the same perturbation makes of the rate that of all the mean of 1 / r_i,
/// weighted by their points: a mean of seconds per iteration. So
///
///     seconds = N0 (1 + b s) (mean over blocks of seconds per iteration).
///
/// Its limits: it holds for smooth errors and while e s is small, thus for tolerances that are met
/// after many swaps; a short run to a tolerance that is higher than the wanted one has the quick
/// modes in it still, and expects too few seconds (not another order of settings, as all have them
/// alike). Captures that cost the others time, and cores that threads share, are known to it only
/// as far as the measured operations have them.
class Tuner {
 public:
  /// Local. Throws Error if there are fewer than two pilots, if their swap periods, or what the
  /// simulation makes of them, are the same, if a residual is not between 0 and 1, or if
  /// iterations are not those of the setting's blocks.
  /// @param model    outlives it
  /// @param seconds  of virtual time, of each simulation
  Tuner(const OperationModel& model, const std::vector<PilotRun>& pilots, double seconds,
        std::uint64_t seed = 1);

  /// Iterations to a tolerance of 1 / e, with halos that are new: of a tolerance t it takes
  /// -log(t) as many.
  double iterationsOfFreshHalos() const { return fresh_; }
  /// The b of above; 0 if old halos did no harm in the pilots.
  double harmOfStaleness() const { return harm_; }

  /// What is to be expected of a setting. Local; throws Error as simulateIterations() does, or if
  /// the tolerance is not between 0 and 1.
  Expectation expect(const HybridSetting& setting, double tolerance) const;
  /// That of all pairs, the quickest one first. Throws Error if there are none.
  std::vector<Expectation> recommend(const HybridSetting& setting, double tolerance,
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
