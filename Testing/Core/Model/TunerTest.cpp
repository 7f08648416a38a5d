// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Model/Tuner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "Support/Effort.h"
#include "Support/World.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Model/TimingFile.h"

namespace tributary {
namespace {

using testing::errorOf;
using testing::slowed;

/// Two subregions, one after the other, whose layers all take as long, and a swap.
MeasuredTimes simpleMachine(std::int64_t layers, int threads, double layer, double swap) {
  MeasuredTimes measured;
  measured.setting.points = {100, 2 * layers, 1};
  measured.setting.subregions = {1, 2};
  measured.setting.threads = threads;
  measured.setting.swapPeriod = 1000000;
  measured.setting.residualPeriod = 1000000;
  for (const Operation operation : {Operation::ComputeLayer, Operation::ComputeInterior})
    measured.times.operations[static_cast<std::size_t>(operation)] = {layer};
  measured.swapTransfers = {swap};
  return measured;
}

/// Iterations of Jacobi's method on a line of 2 * layers points in two halves, which swap what lies
/// beside them after every so many.
std::int64_t iterationsOnALine(std::size_t layers, int period, double tolerance) {
  std::vector<double> values(2 * layers, 1.0);
  double right = 1, left = 1;  // what each half sees of the other one
  const auto residual = [&] {
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double before = i > 0 ? values[i - 1] : 0;
      const double after = i + 1 < values.size() ? values[i + 1] : 0;
      sum += (before + after - 2 * values[i]) * (before + after - 2 * values[i]);
    }
    return std::sqrt(sum);
  };
  const double wanted = tolerance * residual();
  for (std::int64_t n = 1;; ++n) {
    std::vector<double> next(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double before = i == 0 ? 0 : i == layers ? left : values[i - 1];
      const double after = i + 1 == values.size() ? 0 : i + 1 == layers ? right : values[i + 1];
      next[i] = 0.5 * (before + after);
    }
    values = next;
    if (n % period == 0) {
      right = values[layers];
      left = values[layers - 1];
    }
    if (residual() <= wanted) return n;
  }
}

TEST(Tuner, FindsTheSwapPeriodThatBruteForceFinds) {
  constexpr std::int64_t Layers = 12;
  constexpr double Tolerance = 1e-3, Layer = 1e-6;
  const std::vector<int> periods = {1, 2, 4, 8, 16, 32, 64};
  std::map<int, std::int64_t> needed;
  for (const int period : periods) needed[period] = iterationsOnALine(Layers, period, Tolerance);
  std::map<double, int> chosen;
  for (const double swap : {1.0, 10.0, 100.0, 1000.0}) {
    const MeasuredTimes machine = simpleMachine(Layers, 1, Layer, swap * Layer);
    const OperationModel model(machine, std::nullopt);
    std::vector<PilotRun> pilots;
    for (const int period : {1, 8}) {
      PilotRun pilot;
      pilot.setting = machine.setting;
      pilot.setting.swapPeriod = period;
      pilot.residual = Tolerance;
      pilot.iterations = {needed[period], needed[period]};
      pilots.push_back(pilot);
    }
    const Tuner tuner(model, pilots, 0.05);
    int best = 0;
    double least = std::numeric_limits<double>::infinity();
    std::map<int, double> truth;
    for (const int period : periods) {
      truth[period] = Layer * static_cast<double>(needed[period]) * (Layers + swap / period);
      if (truth[period] < least) {
        least = truth[period];
        best = period;
      }
    }
    const auto all = tuner.recommend(machine.setting, Tolerance, periods, {1});
    EXPECT_EQ(all.front().setting.swapPeriod, best) << swap;
    ASSERT_EQ(all.size(), periods.size());
    for (const Expectation& expected : all)
      EXPECT_NEAR(howFarOff(expected, truth[expected.setting.swapPeriod]), 0, 0.16)
          << swap << " " << expected.setting.swapPeriod;
    chosen[swap] = best;
  }
  EXPECT_EQ(chosen[1.0], 1);  // or brute force would prove nothing
  EXPECT_GT(chosen[1000.0], 8);
}

TEST(Tuner, FindsTheWorkShareOfAMachineThatIsKnown) {
  constexpr std::int64_t Layers = 80;
  constexpr int Threads = 4;
  constexpr double Layer = 1e-6, Fresh = 500, Harm = 0.02, Tolerance = 1e-4;
  const std::vector<int> periods = {1, 2, 4, 8, 16, 32};
  const std::vector<double> shares = {0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 1};
  for (const double swap : {2e-6, 10e-6, 40e-6, 400e-6}) {
    if (slowed() && swap != 10e-6) continue;
    const MeasuredTimes machine = simpleMachine(Layers, Threads, Layer, swap);
    const OperationModel model(machine, std::nullopt);
    // Written down by hand: seconds per iteration of both sorts of threads, weighted by layers.
    const auto pace = [&](const HybridSetting& setting) {
      double sum = 0;
      const std::vector<std::int64_t> blocks = blocksOf(setting, 0);
      for (std::size_t b = 0; b < blocks.size(); ++b) {
        const auto layers = static_cast<double>(blocks[b]);
        sum += layers / Layers * (layers * Layer + (b == 0 ? swap / setting.swapPeriod : 0));
      }
      return sum;
    };
    const auto age = [&](const HybridSetting& setting) {
      const auto own = static_cast<double>(blocksOf(setting, 0)[0]) * Layer;
      return 0.5 * (setting.swapPeriod * own + swap) / pace(setting);
    };
    const auto truth = [&](const HybridSetting& setting) {
      return -std::log(Tolerance) * Fresh * (1 + Harm * age(setting)) * pace(setting);
    };
    std::vector<PilotRun> pilots;
    for (const int period : {1, 16}) {
      PilotRun pilot;
      pilot.setting = machine.setting;
      pilot.setting.swapPeriod = period;
      pilot.residual = 1e-2;
      // All run for the seconds that a hundredth takes.
      const double seconds = 0.5 * truth(pilot.setting);
      for (int s = 0; s < 2; ++s)
        for (int b = 0; b < Threads; ++b)
          pilot.iterations.push_back(
              std::llround(seconds / (Layers / Threads * Layer + (b == 0 ? swap / period : 0))));
      pilots.push_back(pilot);
    }
    const Tuner tuner(model, pilots, 0.05);
    EXPECT_NEAR(tuner.iterationsOfFreshHalos(), Fresh, 0.01 * Fresh) << swap;
    EXPECT_NEAR(tuner.harmOfStaleness(), Harm, 0.05 * Harm) << swap;
    double least = std::numeric_limits<double>::infinity();
    for (const int period : periods)
      for (const double share : shares) {
        HybridSetting setting = machine.setting;
        setting.swapPeriod = period;
        setting.workShare = share;
        least = std::min(least, truth(setting));
      }
    const auto all = tuner.recommend(machine.setting, Tolerance, periods, shares);
    EXPECT_LE(truth(all.front().setting), 1.005 * least) << swap;
    for (const Expectation& expected : all)
      EXPECT_NEAR(howFarOff(expected, truth(expected.setting)), 0, 0.02)
          << swap << " " << expected.setting.swapPeriod << " " << expected.setting.workShare;
  }
}

TEST(Tuner, RefusesWhatTellsItNothing) {
  const MeasuredTimes machine = simpleMachine(12, 1, 1e-6, 1e-5);
  const OperationModel model(machine, std::nullopt);
  const auto pilot = [&](int period, double residual, std::vector<std::int64_t> iterations) {
    PilotRun made;
    made.setting = machine.setting;
    made.setting.swapPeriod = period;
    made.residual = residual;
    made.iterations = std::move(iterations);
    return made;
  };
  const auto refusal = [&](const std::vector<PilotRun>& pilots) {
    return errorOf([&] { Tuner(model, pilots, 0.1); });
  };
  const PilotRun good = pilot(1, 0.1, {100, 100});
  EXPECT_NE(refusal({good}).find("at least two"), std::string::npos);
  EXPECT_NE(refusal({good, good}).find("different swap periods"), std::string::npos);
  EXPECT_NE(refusal({good, pilot(8, 1, {9, 9})}).find("give a ratio in (0, 1)"), std::string::npos);
  EXPECT_NE(refusal({good, pilot(8, 0.1, {9})}).find("of 2 blocks, got 1"), std::string::npos);
  EXPECT_NE(refusal({good, pilot(8, 0.1, {9, 0})}).find("at least one iteration"),
            std::string::npos);
  const Tuner tuner(model, {good, pilot(8, 0.1, {120, 120})}, 0.1);
  EXPECT_NE(errorOf([&] { static_cast<void>(tuner.expect(machine.setting, 2)); }).find("tolerance"),
            std::string::npos);
  EXPECT_NE(errorOf([&] {
              static_cast<void>(tuner.recommend(machine.setting, 0.1, {}, {1}));
            }).find("no candidates"),
            std::string::npos);
  // No swap can be seen in so short a time.
  EXPECT_NE(errorOf([&] {
              static_cast<void>(tuner.expect(machine.setting, 0.1));
            }).find("simulate a longer time"),
            std::string::npos);
  EXPECT_NE(errorOf([] { static_cast<void>(howFarOff({}, 0)); }).find("must be greater than 0"),
            std::string::npos);
  // Halos that seem to help by being old do no harm.
  const Tuner odd(model, {good, pilot(8, 0.1, {90, 90})}, 0.1);
  EXPECT_EQ(odd.harmOfStaleness(), 0);
}

}  // namespace
}  // namespace tributary
