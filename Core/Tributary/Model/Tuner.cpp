// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Model/Tuner.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/NumberText.h"
#include "Tributary/Model/EventSimulation.h"

namespace tributary {

namespace {

/// Mean of values of all blocks, weighted by their layers.
template <class Value>
double meanOverBlocks(const HybridSetting& setting, Value&& value) {
  double sum = 0, weights = 0;
  std::size_t index = 0;
  for (int s = 0; s < subregionsOf(setting); ++s) {
    const std::vector<std::int64_t> blocks = blocksOf(setting, s);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      sum += static_cast<double>(blocks[b]) * value(static_cast<std::size_t>(s), b, index++);
      weights += static_cast<double>(blocks[b]);
    }
  }
  return sum / weights;
}

bool isPart(double value) {
  return value > 0 && value < 1;
}

}  // namespace

double howFarOff(const Expectation& expected, double measuredSeconds) {
  if (!(measuredSeconds > 0))
    throw Error("measured seconds must be greater than 0 to compare an expectation with them");
  return expected.seconds / measuredSeconds - 1;
}

Tuner::Tuner(const OperationModel& model, const std::vector<PilotRun>& pilots, double seconds,
             std::uint64_t seed)
    : model_(model), seconds_(seconds), seed_(seed) {
  if (pilots.size() < 2)
    throw Error(
        "a tuner needs at least two pilot runs with different swap periods; give at least two");
  // A straight line of iterations against staleness.
  std::vector<double> ages, needed;
  for (const PilotRun& pilot : pilots) {
    if (!isPart(pilot.residual))
      throw Error("a pilot run reduced its residual to " + numberText(pilot.residual) +
                  " of the initial one; give a ratio in (0, 1)");
    const Pace pace = paceOf(pilot.setting);
    std::size_t blocks = 0;
    for (int s = 0; s < subregionsOf(pilot.setting); ++s)
      blocks += blocksOf(pilot.setting, s).size();
    if (pilot.iterations.size() != blocks)
      throw Error("expected iterations of " + std::to_string(blocks) + " blocks, got " +
                  std::to_string(pilot.iterations.size()) + "; give those of each block");
    for (const std::int64_t count : pilot.iterations)
      if (count < 1)
        throw Error(
            "each block must make at least one iteration in a pilot run; give longer pilot runs");
    // As blocks went on for the same time, the mean seconds per iteration are those of so many.
    const double inverse =
        meanOverBlocks(pilot.setting, [&](std::size_t, std::size_t, std::size_t index) {
          return 1 / static_cast<double>(pilot.iterations[index]);
        });
    ages.push_back(pace.staleness);
    needed.push_back(1 / inverse / -std::log(pilot.residual));
  }
  const auto n = static_cast<double>(pilots.size());
  double age = 0, mean = 0, squares = 0, products = 0;
  for (std::size_t i = 0; i < ages.size(); ++i) {
    age += ages[i] / n;
    mean += needed[i] / n;
  }
  for (std::size_t i = 0; i < ages.size(); ++i) {
    squares += (ages[i] - age) * (ages[i] - age);
    products += (ages[i] - age) * (needed[i] - mean);
  }
  if (!(squares > 1e-12 * age * age))
    throw Error(
        "a tuner needs pilot runs with different swap periods; give at least two swap periods");
  const double slope = std::max(0.0, products / squares);
  // Where noise would have fresh halos need no iterations, none harmful at all is less wrong.
  fresh_ = mean - slope * age;
  if (fresh_ <= 0) fresh_ = *std::min_element(needed.begin(), needed.end());
  harm_ = slope / fresh_;
}

Tuner::Pace Tuner::paceOf(const HybridSetting& setting) const {
  const SimulatedIterations simulated = simulateIterations(setting, model_, seconds_, seed_);
  const double pace =
      meanOverBlocks(setting, [&](std::size_t region, std::size_t block, std::size_t) {
        const double rate = simulated.rates[region][block];
        if (!(rate > 0))
          throw Error("a block makes no iteration in " + numberText(seconds_) +
                      " seconds; simulate a longer time");
        return 1 / rate;
      });
  double staleness = 0;
  if (subregionsOf(setting) > 1) {
    if (!std::isfinite(simulated.secondsBetweenSwaps))
      throw Error("fewer than two swaps in " + numberText(seconds_) +
                  " seconds; simulate a longer time");
    // From a swap to the next one halos grow older by the time in between.
    staleness = 0.5 * simulated.secondsBetweenSwaps / pace;
  }
  return {pace, staleness, simulated.communicatingRate, simulated.otherRate};
}

Expectation Tuner::expect(const HybridSetting& setting, double tolerance) const {
  if (!isPart(tolerance))
    throw Error("the tolerance is " + numberText(tolerance) + "; give one in (0, 1)");
  const Pace pace = paceOf(setting);
  Expectation expected;
  expected.setting = setting;
  expected.staleness = pace.staleness;
  expected.iterations = -std::log(tolerance) * fresh_ * (1 + harm_ * pace.staleness);
  expected.seconds = expected.iterations * pace.secondsPerIteration;
  expected.communicatingRate = pace.communicatingRate;
  expected.otherRate = pace.otherRate;
  return expected;
}

std::vector<Expectation> Tuner::recommend(const HybridSetting& setting, double tolerance,
                                          const std::vector<int>& swapPeriods,
                                          const std::vector<double>& workShares) const {
  std::vector<Expectation> all;
  for (const int period : swapPeriods)
    for (const double share : workShares) {
      HybridSetting candidate = setting;
      candidate.swapPeriod = period;
      candidate.workShare = share;
      check(candidate);
      all.push_back(expect(candidate, tolerance));
    }
  if (all.empty()) throw Error("there are no candidates; give swap periods and work shares");
  std::stable_sort(all.begin(), all.end(), [](const Expectation& a, const Expectation& b) {
    return a.seconds < b.seconds;
  });
  return all;
}

}  // namespace tributary
