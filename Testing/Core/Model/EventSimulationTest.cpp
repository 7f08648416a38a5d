// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Model/EventSimulation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "Support/World.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Model/TimingFile.h"

namespace tributary {
namespace {

using testing::errorOf;

/// Times that never vary, in seconds: easy to add up by hand.
MeasuredTimes constantTimes(const HybridSetting& setting) {
  MeasuredTimes measured;
  measured.setting = setting;
  const auto set = [&](Operation operation, double seconds) {
    measured.times.operations[static_cast<std::size_t>(operation)] = {seconds, seconds};
  };
  set(Operation::CopySideHalo, 0.5e-3);
  set(Operation::CopyEndHalo, 0.25e-3);
  set(Operation::CopyNeighbor, 0.125e-3);
  set(Operation::ComputeLayer, 2e-3);
  set(Operation::ComputeInterior, 1e-3);
  set(Operation::PublishSides, 0.75e-3);
  set(Operation::PublishEnds, 0.375e-3);
  set(Operation::PublishLayer, 0.0625e-3);
  set(Operation::ComputeResidual, 4e-3);
  set(Operation::SumResidual, 0.5e-3);
  set(Operation::CopyBoundary, 0.6e-3);
  set(Operation::UpdateHalo, 0.7e-3);
  set(Operation::MasterResidual, 3e-3);
  set(Operation::MasterHalo, 5e-3);
  measured.swapTransfers = {1e-3};
  measured.reportTransfers = {2e-3};
  return measured;
}

HybridSetting settingOf(int across, int along, int threads, std::int64_t layers) {
  HybridSetting setting;
  setting.points = {100 * across, layers * along, 1};
  setting.subregions = {across, along};
  setting.threads = threads;
  setting.swapPeriod = 1000000;
  setting.residualPeriod = 1000000;
  return setting;
}

std::map<std::string, KindSummary> byName(const SimulatedIterations& simulated) {
  std::map<std::string, KindSummary> all;
  for (const KindSummary& summary : summarize(simulated.iterations))
    all[nameOf(summary.kind)] = summary;
  return all;
}

/// All iterations of a kind last so long.
void expectAlways(const SimulatedIterations& simulated, const std::string& kind, double seconds,
                  std::size_t count) {
  const auto all = byName(simulated);
  ASSERT_EQ(all.count(kind), 1u) << kind;
  EXPECT_EQ(all.at(kind).seconds.size(), count) << kind;
  for (const double one : all.at(kind).seconds) EXPECT_NEAR(one, seconds, 1e-9) << kind;
}

TEST(EventSimulation, AddsUpTheOperationsOfOneThread) {
  // One block of 10 layers: two outermost ones and 8 between them take 12 ms, the residual 4 more,
  // and to sum it and report it 0.5 and 2.
  HybridSetting setting = settingOf(1, 1, 1, 10);
  setting.residualPeriod = 4;
  MeasuredTimes measured = constantTimes(setting);
  const OperationModel model(measured, std::nullopt);
  const SimulatedIterations simulated = simulateIterations(setting, model, 0.5456);
  // Four iterations take 54.5 ms; ten times so long are 40 of them.
  expectAlways(simulated, "C_U", 12e-3, 30);
  expectAlways(simulated, "C_URr", 18.5e-3, 10);
  EXPECT_NEAR(simulated.communicatingRate, 40 / 0.5456, 1e-9);
  EXPECT_TRUE(std::isnan(simulated.otherRate));
  EXPECT_EQ(simulated.secondsBetweenSwaps, std::numeric_limits<double>::infinity());
  EXPECT_EQ(simulated.masterLoad, 0);
  // What timing adds is no part of operations, but each iteration looks at the clock once.
  measured.timingSeconds = 0.25e-3;
  const OperationModel corrected(measured, std::nullopt);
  expectAlways(simulateIterations(setting, corrected, 0.2), "C_U", 12e-3 - 10 * 0.25e-3 + 0.25e-3,
               14);
}

TEST(OperationTimes, TellWhatTimingAdds) {
  OperationTimes times, other;
  EXPECT_FALSE(times.timingSeconds());
  times.operations[3] = {8};
  times.iterations = {{{}, 40}};
  times.layersOneByOne = {5, 100, 7};
  EXPECT_FALSE(times.timingSeconds());
  times.layersTogether = {4};
  EXPECT_EQ(times.timingSeconds(), 3.0);
  times.scale(0.5);
  EXPECT_EQ(times.timingSeconds(), 1.5);
  EXPECT_EQ(times.operations[3], std::vector<double>{4});
  EXPECT_EQ(times.iterations[0].second, 40);
  other.layersTogether = {50, 60};
  times.add(other);  // a median of 50, more than one by one
  EXPECT_EQ(times.timingSeconds(), 0.0);
}

TEST(EventSimulation, HasThreadsOfSeveralPaces) {
  const HybridSetting setting = settingOf(1, 2, 2, 10);
  MeasuredTimes measured = constantTimes(setting);
  measured.paces = {0.5, 1, 2, 3};
  const OperationModel model(measured, std::nullopt);
  const SimulatedIterations simulated = simulateIterations(setting, model, 1);
  ASSERT_EQ(simulated.rates.size(), 2u);
  const auto expectRates = [&](const std::vector<double>& rates, double first, double second) {
    ASSERT_EQ(rates.size(), 2u);
    // 7 ms for 5 layers, and a layer to show; one of the other thread is there at most each time.
    EXPECT_LT(rates[0], 1 / (first * 7.0625e-3));
    EXPECT_GT(rates[0], 1 / (first * 7.1875e-3) - 1.001);
    EXPECT_LT(rates[1], 1 / (second * 7.0625e-3));
    EXPECT_GT(rates[1], 1 / (second * 7.1875e-3) - 1.001);
  };
  expectRates(simulated.rates[0], 0.5, 1);
  expectRates(simulated.rates[1], 2, 3);
  // Of other threads nothing is known.
  const SimulatedIterations other = simulateIterations(settingOf(1, 1, 2, 10), model, 1);
  for (const double rate : other.rates[0]) EXPECT_NEAR(rate, 1 / 7.1875e-3, 2);
  HybridSetting inTurns = setting;
  EXPECT_EQ(model.paceOf(inTurns, 1, 0), 2);
  inTurns.communicates = CommunicatingThread::InTurns;
  EXPECT_EQ(model.paceOf(inTurns, 1, 0), 1);
}

TEST(EventSimulation, KnowsWhatLiesWhere) {
  // Three by three subregions of 6 layers for two threads: the one in the middle has all there is.
  HybridSetting setting = settingOf(3, 3, 2, 6);
  setting.swapPeriod = 1;
  setting.residualPeriod = 2;
  const OperationModel model(constantTimes(setting), std::nullopt);
  const SimulatedIterations simulated = simulateIterations(setting, model, 1);
  // A block: 2 + 1 + 2 ms, a layer for the other one, whose newest layer was there each time.
  const double block = 5e-3 + 0.0625e-3 + 0.125e-3;
  const double halo = 0.5e-3 + 0.25e-3, shown = 0.75e-3 + 0.375e-3;
  const double swap = 0.6e-3 + 1e-3 + 0.7e-3, report = 0.5e-3 + 2e-3;
  std::size_t seen = 0, seenReports = 0;
  for (const auto& [kind, seconds] : simulated.iterations) {
    const double full = block + halo + shown + swap;
    if (nameOf(kind) == "C_US" && std::abs(seconds - full) < 1e-9) ++seen;
    if (nameOf(kind) == "C_USRr" && std::abs(seconds - full - 4e-3 - report) < 1e-9) ++seenReports;
    EXPECT_LE(seconds, full + 4e-3 + report + 1e-9) << nameOf(kind);
  }
  // Blocks of those above and below the middle have an end each only in one of their threads.
  EXPECT_GT(seen, 100u);
  EXPECT_GT(seenReports, 100u);
  // In the corner at the origin the first thread has no end to copy and none to show.
  const OperationModel plain(constantTimes(settingOf(2, 1, 1, 6)), std::nullopt);
  HybridSetting pair = settingOf(2, 1, 1, 6);
  pair.swapPeriod = 1;
  const SimulatedIterations two = simulateIterations(pair, plain, 0.5);
  const auto all = byName(two);
  ASSERT_EQ(all.count("C_US"), 1u);
  // The first iteration of each has no halo yet: 8 + 0.75 + 2.3 ms; then 0.5 more.
  EXPECT_NEAR(all.at("C_US").seconds.front(), 8e-3 + 0.75e-3 + 2.3e-3, 1e-9);
  EXPECT_NEAR(all.at("C_US").seconds.back(), 8e-3 + 0.75e-3 + 2.3e-3 + 0.5e-3, 1e-9);
  EXPECT_NEAR(two.secondsBetweenSwaps, 11.55e-3, 1e-9);
}

TEST(EventSimulation, LetsFewerLayersMakeTheCommunicatingThreadQuicker) {
  // Two threads with 10 layers each: 12 ms and what they exchange. With half a share 5 and 15.
  HybridSetting setting = settingOf(1, 1, 2, 20);
  const OperationModel model(constantTimes(setting), std::nullopt);
  setting.workShare = 0.5;
  setting.residualPeriod = 3;
  const SimulatedIterations simulated = simulateIterations(setting, model, 2);
  const auto all = byName(simulated);
  // The quick one finds a new layer in some iterations only.
  const double quick = 7e-3 + 0.0625e-3, slow = 17e-3 + 0.0625e-3;
  const double residual = 4e-3;  // of 10 layers
  const auto expectEither = [&](const std::string& kind, double seconds) {
    ASSERT_EQ(all.count(kind), 1u) << kind;
    int with = 0, without = 0;
    for (const double one : all.at(kind).seconds) {
      if (std::abs(one - seconds) < 1e-9) ++without;
      if (std::abs(one - seconds - 0.125e-3) < 1e-9) ++with;
    }
    EXPECT_EQ(static_cast<std::size_t>(with + without), all.at(kind).seconds.size()) << kind;
    EXPECT_GT(with, 0) << kind;
  };
  expectEither("C_U", quick);
  expectEither("N_U", slow);
  expectEither("C_URr", quick + 0.5 * residual + 2.5e-3);
  expectEither("N_UR", slow + 1.5 * residual);
  EXPECT_GT(simulated.communicatingRate, 1.8 * simulated.otherRate);
  ASSERT_EQ(simulated.rates.size(), 1u);
  ASSERT_EQ(simulated.rates[0].size(), 2u);
  EXPECT_EQ(simulated.rates[0][0], simulated.communicatingRate);
}

TEST(EventSimulation, QueuesWhatIsAskedOfTheMaster) {
  // A block of 1 layer (2 ms), 0.6 to copy the boundary, 1 of transfers, 5 of the master's, 0.7 to
  // update the halo, 0.25 to copy it and 0.375 to show the boundary: one client alone would leave
  // the master idle for 4.925 of 9.925 ms, but there are several.
  HybridSetting setting = settingOf(1, 2, 1, 1);
  setting.master = true;
  setting.swapPeriod = 1;
  const OperationModel model(constantTimes(setting), std::nullopt);
  const SimulatedIterations two = simulateIterations(setting, model, 10);
  // Two saturate it: each gets every other turn of 5 ms.
  EXPECT_NEAR(two.secondsBetweenSwaps, 10e-3, 1e-6);
  EXPECT_NEAR(two.communicatingRate, 100, 0.2);
  EXPECT_NEAR(two.masterLoad, 1, 0.002);
  EXPECT_NEAR(two.masterWait, 0.075e-3, 0.01e-3);  // 10 - 9.925
  // Four wait for three others: 20 ms each, of which 4.925 are their own and 5 are the master's.
  setting = settingOf(1, 4, 1, 1);
  setting.master = true;
  setting.swapPeriod = 1;
  const SimulatedIterations four = simulateIterations(setting, model, 10);
  EXPECT_NEAR(four.secondsBetweenSwaps, 20e-3, 1e-4);
  EXPECT_NEAR(four.masterWait, 10.075e-3, 0.1e-3);
  EXPECT_NEAR(four.masterLoad, 1, 0.002);
  // With a period of ten two clients keep it busy for 5 of 2 * 10 + ... ms and seldom meet: ten
  // iterations have 20 ms of layers, and one swap's 7.925.
  setting = settingOf(1, 2, 1, 1);
  setting.master = true;
  setting.swapPeriod = 10;
  const SimulatedIterations seldom = simulateIterations(setting, model, 10);
  EXPECT_NEAR(seldom.secondsBetweenSwaps, 27.925e-3, 0.01e-3);
  EXPECT_NEAR(seldom.masterLoad, 2 * 5 / 27.925, 0.01);
}

TEST(EventSimulation, SwapsMoreSeldomForMoreIterations) {
  HybridSetting setting = settingOf(1, 2, 1, 10);
  const OperationModel model(constantTimes(setting), std::nullopt);
  for (const int period : {1, 2, 5, 16}) {
    setting.swapPeriod = period;
    const SimulatedIterations simulated = simulateIterations(setting, model, 30);
    // Per period: the layers, and one swap with what it makes others do.
    const double seconds = 12e-3 * period + 0.6e-3 + 1e-3 + 0.7e-3 + 0.25e-3 + 0.375e-3;
    EXPECT_NEAR(simulated.secondsBetweenSwaps, seconds, 1e-4 * seconds) << period;
    EXPECT_NEAR(simulated.communicatingRate, period / seconds, 2e-3 * period / seconds) << period;
  }
}

TEST(EventSimulation, LetsThreadsCommunicateInTurns) {
  HybridSetting setting = settingOf(1, 2, 3, 30);
  setting.swapPeriod = 1;
  setting.communicates = CommunicatingThread::InTurns;
  const OperationModel model(constantTimes(setting), std::nullopt);
  const SimulatedIterations turns = simulateIterations(setting, model, 5);
  // Nobody is slower than the others, other than with one that always does.
  for (const auto& rates : turns.rates)
    for (const double rate : rates) EXPECT_NEAR(rate, rates[0], 0.06 * rates[0]);
  setting.communicates = CommunicatingThread::First;
  const SimulatedIterations first = simulateIterations(setting, model, 5);
  EXPECT_LT(first.communicatingRate, 0.9 * first.otherRate);
  EXPECT_LT(first.communicatingRate, turns.communicatingRate);
  // Whoever is ahead communicates and falls back.
  setting.communicates = CommunicatingThread::MostIterations;
  const SimulatedIterations most = simulateIterations(setting, model, 5);
  for (const auto& rates : most.rates)
    for (const double rate : rates) EXPECT_NEAR(rate, rates[0], 0.06 * rates[0]);
}

TEST(EventSimulation, LetsDedicatedThreadsWaitForEachOther) {
  HybridSetting setting = settingOf(1, 3, 2, 10);
  setting.communicates = CommunicatingThread::Dedicated;
  setting.residualPeriod = 4;
  const OperationModel model(constantTimes(setting), std::nullopt);
  const SimulatedIterations simulated = simulateIterations(setting, model, 5);
  // Rounds of 2.3 ms, each fourth one with 2.5 more.
  EXPECT_NEAR(simulated.secondsBetweenSwaps, 2.3e-3 + 2.5e-3 / 4, 1e-5);
  EXPECT_NEAR(simulated.communicatingRate, 1 / (2.3e-3 + 2.5e-3 / 4), 1);
  // The others never wait, and have a new halo each time: 12 + 0.25 ms; and each fourth iteration
  // the residual of 10 layers and the boundary to show.
  for (const auto& rates : simulated.rates) {
    ASSERT_EQ(rates.size(), 1u);
    EXPECT_NEAR(rates[0], 1 / (12.25e-3 + 4.375e-3 / 4), 0.5);
  }
}

TEST(EventSimulation, IsTheSameForTheSameSeed) {
  HybridSetting setting = settingOf(2, 2, 3, 12);
  setting.master = true;
  setting.swapPeriod = 2;
  MeasuredTimes measured = constantTimes(setting);
  std::uint64_t random = 1;
  for (auto& samples : measured.times.operations) {
    const double mean = samples[0];
    samples.clear();
    const ParametricDistribution gev(Family::GeneralizedExtremeValue, {mean, 0.1 * mean, 0.1});
    for (int i = 0; i < 50; ++i) samples.push_back(gev.draw(random));
  }
  for (const auto family : {std::optional<Family>(), std::make_optional(Family::Gamma)}) {
    const OperationModel model(measured, family);
    EXPECT_TRUE(model.substituted().empty());
    const SimulatedIterations once = simulateIterations(setting, model, 1, 7);
    const SimulatedIterations again = simulateIterations(setting, model, 1, 7);
    const SimulatedIterations other = simulateIterations(setting, model, 1, 8);
    EXPECT_EQ(once.iterations, again.iterations);
    EXPECT_EQ(once.rates, again.rates);
    EXPECT_EQ(once.masterWait, again.masterWait);
    EXPECT_NE(once.iterations, other.iterations);
  }
}

TEST(EventSimulation, HasTheMeansOfItsDistributions) {
  HybridSetting setting = settingOf(1, 1, 1, 10);
  MeasuredTimes measured = constantTimes(setting);
  std::uint64_t random = 3;
  const ParametricDistribution interior(Family::GeneralizedExtremeValue, {1e-3, 1e-4, 0.1});
  auto& samples = measured.times.operations[static_cast<std::size_t>(Operation::ComputeInterior)];
  samples.clear();
  for (int i = 0; i < 4000; ++i) samples.push_back(interior.draw(random));
  for (const auto family :
       {std::optional<Family>(), std::make_optional(Family::GeneralizedExtremeValue)}) {
    const OperationModel model(measured, family);
    const auto all = byName(simulateIterations(setting, model, 30));
    EXPECT_NEAR(all.at("C_U").mean, 4e-3 + 8 * interior.mean(), 0.005 * 12e-3);
    EXPECT_NEAR(all.at("C_U").deviation, std::sqrt(8.0) * interior.deviation(),
                0.08 * std::sqrt(8.0) * interior.deviation());
  }
}

TEST(EventSimulation, RefusesWhatMakesNoSense) {
  const HybridSetting setting = settingOf(1, 2, 2, 10);
  const OperationModel model(constantTimes(setting), std::nullopt);
  const auto refusal = [&](auto change, double seconds = 1) {
    HybridSetting other = setting;
    change(other);
    return errorOf([&] { return simulateIterations(other, model, seconds); });
  };
  const auto expect = [&](const std::string& text, auto change) {
    EXPECT_NE(refusal(change).find(text), std::string::npos) << text << ": " << refusal(change);
  };
  expect("choose 4, 8, 6 or 26", [](HybridSetting& s) { s.neighbors = 5; });
  expect("along an axis", [](HybridSetting& s) { s.points[1] = 0; });
  expect("1 point along z", [](HybridSetting& s) { s.points[2] = 3; });
  expect("subregions along", [](HybridSetting& s) { s.subregions[0] = 0; });
  expect("2^20", [](HybridSetting& s) { s.subregions = {1 << 15, 1 << 15}; });
  expect("threads", [](HybridSetting& s) { s.threads = 0; });
  expect("threads in total", [](HybridSetting& s) {
    s.subregions = {1 << 10, 1};
    s.threads = 1 << 12;
  });
  expect("for 11 threads", [](HybridSetting& s) { s.threads = 11; });
  expect("swap period", [](HybridSetting& s) { s.swapPeriod = 0; });
  expect("work share", [](HybridSetting& s) { s.workShare = std::nan(""); });
  expect("work share", [](HybridSetting& s) { s.workShare = 1.5; });
  expect("at least two", [](HybridSetting& s) {
    s.communicates = CommunicatingThread::Dedicated;
    s.threads = 1;
  });
  expect("does not support a master", [](HybridSetting& s) {
    s.communicates = CommunicatingThread::Dedicated;
    s.master = true;
  });
  expect("times are those of a stencil with 4", [](HybridSetting& s) { s.neighbors = 8; });
  expect("layers have 300", [](HybridSetting& s) { s.points[0] = 300; });
  const auto nothing = [](HybridSetting&) {};
  EXPECT_NE(refusal(nothing, 0).find("must be finite and greater than 0"), std::string::npos);
  EXPECT_EQ(refusal(nothing), "");

  const auto unmodeled = [&](auto change) {
    MeasuredTimes measured = constantTimes(setting);
    change(measured);
    return errorOf([&] { OperationModel(measured, std::nullopt); });
  };
  EXPECT_NE(unmodeled([](MeasuredTimes& m) { m.setting.workShare = 0.5; }).find("measure with 1"),
            std::string::npos);
  EXPECT_NE(
      unmodeled([](MeasuredTimes& m) { m.times = OperationTimes(); }).find("are missing or 0"),
      std::string::npos);
  EXPECT_NE(unmodeled([](MeasuredTimes& m) { m.timingSeconds = 1; }).find("are missing or 0"),
            std::string::npos);
  EXPECT_NE(unmodeled([](MeasuredTimes& m) { m.timingSeconds = -1; }).find("timing"),
            std::string::npos);
  EXPECT_NE(unmodeled([](MeasuredTimes& m) { m.swapTransfers = {-1}; }).find("swap transfers"),
            std::string::npos);
  EXPECT_NE(unmodeled([](MeasuredTimes& m) {
              m.paces = {1, 1};
            }).find("paces of 2 threads"),
            std::string::npos);
  EXPECT_NE(unmodeled([](MeasuredTimes& m) {
              m.paces = {1, 1, 0, 1};
            }).find("a finite number greater than 0"),
            std::string::npos);
  // Two samples are too few for a family.
  MeasuredTimes few = constantTimes(setting);
  few.swapTransfers = {1e-3, 2e-3};
  EXPECT_EQ(OperationModel(few, Family::GeneralizedExtremeValue).substituted(),
            std::vector<std::string>{"swap transfers"});
  // Nobody computes what was not measured.
  MeasuredTimes halves = constantTimes(settingOf(1, 1, 1, 1));
  halves.times.operations[static_cast<std::size_t>(Operation::ComputeLayer)].clear();
  const OperationModel half(halves, std::nullopt);
  EXPECT_NE(
      errorOf([&] { return simulateIterations(settingOf(1, 1, 1, 1), half, 1); }).find("no time"),
      std::string::npos);
}

TEST(ModelError, IsThatOfMeansAndOfPairs) {
  KindSummary modeled, measured;
  modeled.seconds = {1.1, 0.9};
  measured.seconds = {1, 1, 2, 2};
  // +10 %, -10 %, -45 %, -55 %.
  const ModelError error = errorOfModel(modeled, measured);
  EXPECT_NEAR(error.ofPairs, -0.25, 1e-12);
  EXPECT_NEAR(error.deviation, std::sqrt((0.01 + 0.01 + 0.45 * 0.45 + 0.55 * 0.55) / 4 - 0.0625),
              1e-12);
  EXPECT_NEAR(error.ofMeans, 1 / 1.5 - 1, 1e-12);
  // All pairs of 1, 1, 2, 2 with themselves: 0, +100 %, -50 %, 0, as often.
  EXPECT_NEAR(error.ofPairsIfPerfect, 0.125, 1e-12);
  measured.seconds = {1, 0};
  EXPECT_NE(errorOf([&] { return errorOfModel(modeled, measured); }).find("must be greater than 0"),
            std::string::npos);
  EXPECT_NE(errorOf([&] {
              return errorOfModel({}, measured);
            }).find("needs modeled and measured samples"),
            std::string::npos);
}

}  // namespace
}  // namespace tributary
