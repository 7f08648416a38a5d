// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Tuning/SettingsTrial.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "Support/World.h"
#include "Tributary/Base/Hash.h"
#include "Tributary/Model/Distribution.h"

namespace tributary {
namespace {

using testing::errorOf;

/// Costs constant + slope * share for each candidate, times noise that makes longer more often than
/// shorter, now and then much longer.
struct Machine {
  std::vector<double> constant, slope;
  double noise = 0;
  std::uint64_t random = 0;

  double fullCost(std::size_t candidate) const { return constant[candidate] + slope[candidate]; }
  double run(const Trial& trial) {
    static const ParametricDistribution lognormal(Family::Lognormal, {0, 1});
    const double exact = constant[trial.candidate] + slope[trial.candidate] * trial.share;
    const double spike = nextRandom(random) % 50 == 0 ? 1 + 10 * noise : 1;
    return exact * spike * std::pow(lognormal.draw(random), noise);
  }
};

/// Candidates whose costs differ by up to a factor of two.
Machine randomMachine(std::uint64_t seed, std::size_t candidates, double noise) {
  Machine machine;
  machine.noise = noise;
  machine.random = scramble(seed);
  const auto uniform = [&] { return double(nextRandom(machine.random) >> 11) * 0x1p-53; };
  for (std::size_t c = 0; c < candidates; ++c) {
    machine.constant.push_back(0.002 * uniform());
    machine.slope.push_back(1 + uniform());
  }
  return machine;
}

std::size_t run(SettingsTrial& trials, Machine& machine) {
  while (const auto trial = trials.next()) trials.report(machine.run(*trial));
  return trials.best();
}

/// In how many of 300 trials the choice is within a tenth of the best, found by brute force.
int trialsWon(double noise) {
  int won = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const std::size_t candidates = 2 + seed % 30;
    Machine machine = randomMachine(seed, candidates, noise);
    SettingsTrial one(candidates);
    const std::size_t found = run(one, machine);
    double best = machine.fullCost(0);
    for (std::size_t c = 1; c < candidates; ++c) best = std::min(best, machine.fullCost(c));
    won += machine.fullCost(found) <= 1.1 * best;
  }
  return won;
}

TEST(SettingsTrial, FindsTheBestWithinTheNoise) {
  EXPECT_GE(trialsWon(0), 297);
  EXPECT_GE(trialsWon(0.01), 293);
  EXPECT_GE(trialsWon(0.03), 285);
  EXPECT_GE(trialsWon(0.1), 235);
}

TEST(SettingsTrial, KeepsItsBudget) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const std::size_t candidates = 2 + seed % 30;
    Machine machine = randomMachine(seed, candidates, 0.05);
    for (double& constant : machine.constant) constant *= double(seed % 5);
    TrialOptions options;
    options.budget = 0.05 + 0.05 * double(seed % 3);
    SettingsTrial one(candidates, options);
    run(one, machine);
    double sweep = 0;
    for (std::size_t c = 0; c < candidates; ++c) sweep += machine.fullCost(c);
    // The sweep is told from the default alone, which may be twice as slow as the others.
    const double allowed = options.budget * double(candidates) * machine.fullCost(0);
    EXPECT_LE(one.spentSeconds(), 1.5 * allowed) << seed;
    EXPECT_LE(one.spentSeconds(), 2 * options.budget * sweep) << seed;
  }
}

TEST(SettingsTrial, DropsWhatIsHopelessAtOnce) {
  Machine machine = randomMachine(3, 12, 0.01);
  for (std::size_t c = 5; c < 12; ++c) machine.slope[c] = 8;
  SettingsTrial one(12);
  std::vector<int> runs(12);
  while (const auto trial = one.next()) {
    ++runs[trial->candidate];
    one.report(machine.run(*trial));
  }
  for (std::size_t c = 5; c < 12; ++c) EXPECT_EQ(runs[c], 1) << c;
  EXPECT_LT(one.best(), 5u);
  EXPECT_GT(one.trials(), 25u);
}

TEST(SettingsTrial, GoesOnAfterOneTrialThatWasDisturbed) {
  for (int disturbed = 0; disturbed < 5; ++disturbed) {
    Machine machine = randomMachine(8, 18, 0);
    for (double& constant : machine.constant) constant = 0.01;
    TrialOptions options;
    options.budget = 0.3 - 3.0 / 18;
    options.defaultSeconds = machine.fullCost(0);
    SettingsTrial one(18, options);
    for (int i = 0; const auto trial = one.next(); ++i)
      one.report(machine.run(*trial) * (i == disturbed ? 4 : 1));
    EXPECT_GT(one.trials(), 50u) << disturbed;
    double best = machine.fullCost(0);
    for (std::size_t c = 1; c < 18; ++c) best = std::min(best, machine.fullCost(c));
    EXPECT_LE(machine.fullCost(one.best()), 1.1 * best) << disturbed;
  }
}

TEST(SettingsTrial, WinnersShowThemselvesInAllOfTheWork) {
  // A candidate that is quick in parts of the work, and how long it and the default take for all.
  struct Case {
    double defaultBefore, winner, defaultAfter;
    bool isBetter;
    double expected;
  };
  for (const Case& c : {Case{1, 0.8, 1, true, 0.8}, Case{1, 1.2, 2, false, 1},
                        Case{1.5, 1.2, 1, false, 1}, Case{1, 0.999, 2, false, 1}}) {
    TrialOptions options;
    options.budget = 0.3;
    options.defaultSeconds = c.defaultBefore;
    SettingsTrial one(6, options);
    std::vector<std::size_t> wholes;
    for (int i = 0; const auto trial = one.next(); ++i) {
      if (trial->share == 1) {
        wholes.push_back(trial->candidate);
        one.report(trial->candidate == 3 ? c.winner : c.defaultAfter);
      } else {
        one.report((trial->candidate == 3 ? 0.5 : 1) * trial->share * (1 + 0.02 * (i % 3)));
      }
    }
    EXPECT_EQ(one.best(), c.isBetter ? 3u : 0u) << c.winner;
    ASSERT_TRUE(one.forecast());
    EXPECT_EQ(one.forecast()->seconds, c.expected) << c.winner;
    // Where the winner has lost already nobody has to wait for the default.
    const bool mayBeBetter = c.winner < 0.9 * c.defaultBefore;
    EXPECT_EQ(wholes,
              mayBeBetter ? std::vector<std::size_t>({3, 0}) : std::vector<std::size_t>({3}));
  }
}

TEST(SettingsTrial, DecidesByWhatItIsToldAlone) {
  Machine machine = randomMachine(8, 12, 0.05);
  SettingsTrial one(12), other(12);
  while (const auto trial = one.next()) {
    const auto same = other.next();
    ASSERT_TRUE(same);
    EXPECT_EQ(trial->candidate, same->candidate);
    EXPECT_EQ(trial->share, same->share);
    const double seconds = machine.run(*trial);
    one.report(seconds);
    other.report(seconds);
  }
  EXPECT_FALSE(other.next());
  EXPECT_EQ(one.best(), other.best());
  EXPECT_EQ(one.forecast()->seconds, other.forecast()->seconds);
  EXPECT_GT(one.trials(), 30u);
}

TEST(SettingsTrial, LeavesTheDefaultWithoutAReason) {
  // Ties.
  Machine equal;
  equal.constant.assign(10, 0.001);
  equal.slope.assign(10, 1);
  SettingsTrial tied(10);
  EXPECT_EQ(run(tied, equal), 0u);
  // Noise alone: what is chosen by luck is chosen seldom.
  int changed = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Machine machine = equal;
    machine.noise = 0.05;
    machine.random = scramble(seed);
    SettingsTrial one(10);
    changed += run(one, machine) != 0;
  }
  EXPECT_LE(changed, 65);
  // One candidate, and work of which nothing smaller than all of it can be tried.
  EXPECT_FALSE(SettingsTrial(1).next());
  TrialOptions whole;
  whole.smallestShare = 1;
  SettingsTrial none(10, whole);
  EXPECT_FALSE(none.next());
  EXPECT_EQ(none.best(), 0u);
  EXPECT_FALSE(none.forecast());
}

TEST(SettingsTrial, RunsAllOfTheWorkWhereItHasNoParts) {
  int won = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::size_t candidates = 2 + seed % 18;
    Machine machine = randomMachine(seed, candidates, 0.03);
    TrialOptions whole;
    whole.smallestShare = 1;
    whole.budget = 20;
    SettingsTrial one(candidates, whole);
    std::vector<int> runs(candidates);
    while (const auto trial = one.next()) {
      EXPECT_EQ(trial->share, 1);
      ++runs[trial->candidate];
      one.report(machine.run(*trial));
    }
    for (const int count : runs) EXPECT_GE(count, 3);
    EXPECT_LE(one.trials(), 5 + 3 * candidates * 3 / 2 + 10 + 6);
    double best = machine.fullCost(0);
    for (std::size_t c = 1; c < candidates; ++c) best = std::min(best, machine.fullCost(c));
    won += machine.fullCost(one.best()) <= 1.1 * best;
    ASSERT_TRUE(one.forecast());
    EXPECT_NEAR(one.forecast()->seconds, machine.fullCost(one.best()),
                0.2 * machine.fullCost(one.best()));
    EXPECT_GT(one.forecast()->spread, 0);
  }
  EXPECT_GE(won, 190);
}

TEST(SettingsTrial, ForetellsHowLongTheChoiceTakes) {
  // Without noise to the last digits.
  Machine exact = randomMachine(5, 12, 0);
  SettingsTrial one(12);
  const std::size_t best = run(one, exact);
  ASSERT_TRUE(one.forecast());
  EXPECT_NEAR(one.forecast()->seconds, exact.fullCost(best), 1e-9);
  EXPECT_NEAR(one.forecast()->spread, 0, 1e-9);
  EXPECT_NEAR(one.forecast()->offBy(1.5 * exact.fullCost(best)), 0.5, 1e-8);
  // With noise most are within twice the spread that is told.
  int within = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Machine machine = randomMachine(seed, 12, 0.05);
    SettingsTrial noisy(12);
    const std::size_t found = run(noisy, machine);
    const auto expected = noisy.forecast();
    ASSERT_TRUE(expected);
    within += std::abs(expected->seconds - machine.fullCost(found)) <= 2 * expected->spread;
  }
  EXPECT_GE(within, 180);
}

TEST(SettingsTrial, RefusesWhatCannotBe) {
  const auto says = [](const std::function<void()>& action, const std::string& word) {
    const std::string error = errorOf(action);
    EXPECT_NE(error.find(word), std::string::npos) << error;
  };
  says([] { SettingsTrial none(0); }, "no candidate");
  for (const double wrong :
       {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity(), 1.5}) {
    TrialOptions budget, share;
    budget.budget = wrong;
    share.smallestShare = wrong;
    if (wrong != 1.5) says([&] { SettingsTrial one(3, budget); }, "budget");
    says([&] { SettingsTrial one(3, share); }, "smallest share");
  }
  SettingsTrial one(12);
  for (const double wrong : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    says([&] { one.report(wrong); }, "positive, finite");
  one.report(1);  // the trial is still there
  Machine machine = randomMachine(1, 12, 0);
  run(one, machine);
  says([&] { one.report(1); }, "no trial");
}

}  // namespace
}  // namespace tributary
