// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/TraceTuning.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "Advection/GridPieces.h"
#include "Advection/TracedLines.h"
#include "Support/World.h"

namespace tributary::testing {
namespace {

std::vector<Seed> seedsOf(const GridSetup& s, int count) {
  std::vector<Seed> seeds;
  for (int i = world().rank(); i < count; i += world().size()) {
    Seed seed;
    seed.id = i;
    for (std::size_t a = 0; a < 3; ++a)
      seed.x[a] = s.lo[a] + (s.hi[a] - s.lo[a]) *
                                static_cast<double>(mix(std::uint64_t(3 * i) + a) >> 11) * 0x1p-53;
    seeds.push_back(seed);
  }
  return seeds;
}

TraceOptions optionsFor(Schedule schedule) {
  TraceOptions options;
  options.exchange.schedule = schedule;
  options.rules.maximumLength = 6;
  options.rules.maximumSteps = 100;
  options.backward = true;
  return options;
}

/// A field cut into eight blocks per piece, as one turn may be enough for one, and into one.
class Cuts {
 public:
  Cuts() {
    setup.pieces = world().size();
    for (const int blocks : {8, 1}) {
      setup.blocksPerPiece = blocks;
      grids_.push_back(makeGridDomain(world(), setup));
      domains.push_back(&grids_.back()->domain);
    }
  }
  GridSetup setup;
  std::vector<const Domain*> domains;

 private:
  std::vector<std::unique_ptr<GridDomain>> grids_;
};

TEST(TraceTuning, ChoosesAlikeAndChangesNoLine) {
  const Cuts cuts;
  const auto seeds = seedsOf(cuts.setup, 1400);
  const auto settings = traceSettings(cuts.domains);
  for (const Schedule schedule :
       {Schedule::Asynchronous, Schedule::Synchronous, Schedule::Neighborhood}) {
    TraceOptions options = optionsFor(schedule);
    const auto before = traceLines(world(), *cuts.domains[0], seeds, options);
    const TraceTuning tuning = tuneTrace(world(), settings, seeds, options);
    EXPECT_FALSE(tuning.aborted);
    if (world().size() == 1) {  // which has nobody to exchange with
      EXPECT_EQ(tuning.trials, 0u);
      EXPECT_EQ(tuning.best, 0u);
      continue;
    }
    EXPECT_GE(tuning.trials, 3u);  // more if trials are so cheap here
    ASSERT_TRUE(tuning.expected);
    EXPECT_GT(tuning.expected->seconds, 0);
    ASSERT_LT(tuning.best, settings.size());
    const auto best = static_cast<std::int64_t>(tuning.best);
    EXPECT_EQ(allreduce(world(), ReduceOp::Min, best), allreduce(world(), ReduceOp::Max, best));
    for (const double seconds : {tuning.seconds, tuning.expected->seconds})
      EXPECT_EQ(allreduce(world(), ReduceOp::Min, seconds),
                allreduce(world(), ReduceOp::Max, seconds));
    const TraceSetting& setting = settings[tuning.best];
    setting.exchange.applyTo(options.exchange);
    const auto after = traceLines(world(), *setting.domain, seeds, options);
    EXPECT_TRUE(before == after);
    EXPECT_EQ(after.size(), 2800u);
  }
}

TEST(TraceTuning, OffersTheDefaultsFirstAndEachSettingOnce) {
  const Cuts cuts;
  const auto settings = traceSettings(cuts.domains);
  const ExchangeOptions defaults;
  EXPECT_EQ(settings[0].domain, cuts.domains[0]);
  EXPECT_EQ(settings[0].exchange.batchBytes, defaults.batchBytes);
  EXPECT_EQ(settings[0].exchange.holdTime, defaults.holdTime);
  for (std::size_t i = 0; i < settings.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_FALSE(settings[i].domain == settings[j].domain &&
                   settings[i].exchange.batchBytes == settings[j].exchange.batchBytes &&
                   settings[i].exchange.holdTime == settings[j].exchange.holdTime);
}

TEST(TraceTuning, TriesNothingWithFewSeeds) {
  const Cuts cuts;
  for (const int count : {0, 1, 50}) {
    const TraceTuning tuning =
        tuneTrace(world(), traceSettings(cuts.domains), seedsOf(cuts.setup, count),
                  optionsFor(Schedule::Asynchronous));
    EXPECT_EQ(tuning.best, 0u);
    EXPECT_EQ(tuning.trials, 0u);
    EXPECT_FALSE(tuning.expected);
  }
}

TEST(TraceTuning, IsAbortedOnOneRankAndOnAll) {
  if (world().size() == 1) GTEST_SKIP() << "one rank tries nothing";
  const Cuts cuts;
  TraceOptions options = optionsFor(Schedule::Asynchronous);
  int calls = 0;
  if (world().rank() == world().size() - 1)
    options.monitor = [&](double share) {
      EXPECT_EQ(share, 0);
      return ++calls < 2;
    };
  const auto seeds = seedsOf(cuts.setup, 700);
  EXPECT_TRUE(tuneTrace(world(), traceSettings(cuts.domains), seeds, options).aborted);
  options.monitor = {};
  EXPECT_FALSE(tuneTrace(world(), traceSettings(cuts.domains), seeds, options).aborted);
}

TEST(TraceTuning, RefusesBadInputOnAllRanks) {
  const Cuts cuts;
  const bool last = world().rank() == world().size() - 1;
  const auto seeds = seedsOf(cuts.setup, 700);
  const TraceOptions good = optionsFor(Schedule::Asynchronous);
  const auto errorWith = [&](const std::vector<TraceSetting>& settings,
                             const TraceOptions& options) {
    return errorOf([&] { return tuneTrace(world(), settings, seeds, options); });
  };
  auto settings = traceSettings(cuts.domains);
  auto wrong = settings;
  if (last) wrong.clear();
  EXPECT_NE(errorWith(wrong, good).find("no setting"), std::string::npos);
  wrong = settings;
  if (last) wrong[3].domain = nullptr;
  EXPECT_NE(errorWith(wrong, good).find("no domain"), std::string::npos);
  EXPECT_EQ(errorWith(settings, good), "");
  if (world().size() == 1) return;  // without trials, so without their errors
  wrong = settings;
  if (last) wrong.pop_back();
  EXPECT_NE(errorWith(wrong, good).find("numbers of settings"), std::string::npos);
  wrong = settings;
  for (TraceSetting& setting : wrong)
    if (last) setting.exchange.batchBytes = 0;
  EXPECT_NE(errorWith(wrong, good).find("batchBytes"), std::string::npos);
  TraceOptions bad = good;
  bad.rules.initialStep = last ? -1 : bad.rules.initialStep;
  EXPECT_NE(errorWith(settings, bad).find("initial step"), std::string::npos);
  EXPECT_EQ(errorWith(settings, good), "");
}

}  // namespace
}  // namespace tributary::testing
