// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Balance/Lending.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "Balance/Trader.h"
#include "Support/Assignments.h"
#include "Support/Effort.h"
#include "Support/World.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Termination/Detector.h"
#include "Tributary/Transport/Simulated.h"

namespace tributary {
namespace {

using testing::LendingState;
using testing::mix;
using testing::Sanitized;
using testing::spread;
using testing::Toy;
using testing::ToyRules;
using testing::Trader;
using testing::underAdversaries;
using testing::world;

/// Asks and lends at random.
class RandomPolicy : public LendingPolicy {
 public:
  explicit RandomPolicy(std::uint64_t seed) : state_(mix(seed)) {}
  bool asks(bool) override { return next() % 2 == 0; }
  bool accepts(bool, double, double) override { return next() % 2 == 0; }
  PlannedLoan plan(const LoanTerms& terms) override {
    return {static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(terms.items + 1)), 0};
  }

 private:
  std::uint64_t next() { return state_ = mix(state_); }
  std::uint64_t state_;
};

enum class Policy { Cost, Random };

/// Sums of all ranks.
struct Totals {
  std::int64_t loans = 0, copies = 0, dropped = 0, steps = 0;
  void add(const Totals& other) {
    loans += other.loans;
    copies += other.copies;
    dropped += other.dropped;
    steps += other.steps;
  }
};

/// Checks after an exchange that nothing was lost, doubled or changed. Collective.
Totals expectReference(Transport& transport, const ToyRules& rules, const LendingOptions& options,
                       const Trader& trader) {
  const std::vector<std::uint64_t> reference = rules.reference();
  const Toy& work = trader.work();
  std::vector<std::int64_t> ends(reference.size(), 0);
  for (const auto& [id, hash] : work.results()) {
    EXPECT_EQ(hash, reference.at(id)) << "token " << id;
    ++ends.at(id);
  }
  const LendingStatistics& statistics = trader.lending().statistics();
  EXPECT_TRUE(work.idle());
  EXPECT_TRUE(LendingState(trader.lending(), transport.rank(), transport.size()).rests());
  EXPECT_LE(statistics.copyMemory, static_cast<std::int64_t>(options.memory));
  EXPECT_LE(statistics.copies, statistics.loans);
  EXPECT_LE(statistics.loans, statistics.offers);
  EXPECT_GE(statistics.expectedGain, 0);
  if (options.memory == 0) {
    EXPECT_EQ(statistics.requests, 0);
  }

  ends = allreduce(transport, ReduceOp::Sum, ends);
  for (std::size_t id = 0; id < ends.size(); ++id) EXPECT_EQ(ends[id], 1) << "token " << id;
  const Toy::Counts& counts = work.counts();
  const std::vector<std::int64_t> sums =
      allreduce(transport, ReduceOp::Sum,
                std::vector<std::int64_t>{statistics.items, counts.lent, counts.borrowed,
                                          statistics.copies, counts.copied, counts.foreignVisits,
                                          counts.takenBack + work.heldVisits(), statistics.loans,
                                          statistics.dropped, trader.steps()});
  EXPECT_EQ(sums[0], sums[1]);
  EXPECT_EQ(sums[0], sums[2]);
  EXPECT_EQ(sums[3], sums[4]);
  EXPECT_EQ(sums[5], sums[6]);
  return {sums[7], sums[3], sums[8], sums[9]};
}

/// Runs toys in an exchange. Collective.
Totals trade(Transport& transport, const ToyRules& rules, Policy policy, std::size_t memory,
             const std::string& detector, double stepSeconds = 0) {
  RandomPolicy random(rules.seed * 64 + static_cast<std::uint64_t>(transport.rank()));
  LendingOptions options;
  options.memory = memory;
  if (policy == Policy::Random) options.policy = &random;
  Trader trader(transport, rules, options, stepSeconds);
  runExchange(transport, trader, detector);
  return expectReference(transport, rules, options, trader);
}

constexpr std::uint64_t MostWords = 20;
/// No limit, room for two copies of the largest size, for one, for some copies only, and for none.
std::size_t memoryOf(std::uint64_t seed) {
  const std::size_t one = ToyRules::copySize(MostWords).memory;
  return std::vector<std::size_t>{std::size_t(1) << 30, 2 * one, one, one / 2, 0}[seed % 5];
}

/// Blocks on some ranks only, often more than ranks; tokens in few of them.
ToyRules randomRules(int ranks, std::uint64_t seed) {
  ToyRules rules;
  const auto blocks = static_cast<std::int64_t>(1 + mix(seed) % 9);
  rules.assignment = spread(blocks, ranks, seed);
  rules.seed = seed;
  rules.tokens.assign(static_cast<std::size_t>(blocks), 0);
  for (std::uint64_t block = 0; block < rules.tokens.size(); ++block)
    if (mix(seed + 31 * block) % 3 == 0) rules.tokens[block] = mix(seed * 3 + block) % 20;
  rules.tokens[mix(seed * 5) % rules.tokens.size()] += 15;
  rules.mostVisits = 1 + static_cast<std::int32_t>(seed % 4);
  // Several calls are made between two receives, in which a rank without delays makes many steps.
  rules.mostSteps = 1 + static_cast<std::int32_t>(mix(seed + 7) % 300);
  rules.mostWords = MostWords;
  rules.itemSeconds = 1;  // so that lending always pays
  return rules;
}

class EachPolicy : public ::testing::TestWithParam<Policy> {};

INSTANTIATE_TEST_SUITE_P(Lending, EachPolicy, ::testing::Values(Policy::Cost, Policy::Random),
                         [](const auto& test) {
                           return std::string(test.param == Policy::Cost ? "Cost" : "Random");
                         });

TEST_P(EachPolicy, EqualsTheReferenceWithEachDetector) {
  std::uint64_t seed = 0;
  for (const std::string& detector : detectorNames(WorkModel::AP))
    for (int i = 0; i < (Sanitized ? 2 : 5); ++i, ++seed) {
      SCOPED_TRACE(detector + ", seed " + std::to_string(seed));
      trade(world(), randomRules(world().size(), seed), GetParam(), memoryOf(seed), detector);
    }
}

// Blocks of one rank, and all of the work: it reaches the other ranks.
TEST_P(EachPolicy, LendsTheWorkOfOneRank) {
  ToyRules rules;
  std::vector<std::int64_t> counts(static_cast<std::size_t>(world().size()), 0);
  counts.back() = 3;
  rules.assignment = Assignment(counts);
  rules.tokens = {60, 1, 0};
  rules.mostVisits = 3;
  rules.mostSteps = 20;
  rules.itemSeconds = 1;
  const Totals totals = trade(world(), rules, GetParam(), 1 << 20, "default");
  if (world().size() == 1) {
    EXPECT_EQ(totals.loans, 0);
  }
}

// Reproducible, so that it is known that everything happens: loans, copies, copies that go.
TEST_P(EachPolicy, NothingIsLostUnderRandomSchedules) {
  if (world().size() > 1) GTEST_SKIP() << "simulates its ranks";
  const auto detectors = detectorNames(WorkModel::AP);
  Totals all;
  const int share = Sanitized ? 10 : 1;  // of the runs that sanitizers slow down
  underAdversaries(4000 / share, [&](std::uint64_t seed, Transport& transport) {
    const Totals totals = trade(transport, randomRules(transport.size(), seed), GetParam(),
                                memoryOf(mix(seed)), detectors[mix(seed + 99) % detectors.size()]);
    if (transport.rank() == 0) all.add(totals);
  });
  EXPECT_GT(all.loans, 100);
  EXPECT_GT(all.copies, 100 / share);
  EXPECT_LT(all.copies, all.loans);
  EXPECT_GT(all.dropped, 10 / share);
}

TEST(Lending, WithoutMemoryNobodyAsks) {
  ToyRules rules = randomRules(world().size(), 3);
  EXPECT_EQ(trade(world(), rules, Policy::Random, 0, "default").loans, 0);
}

/// Ranks in virtual time, with measured times. @return the time of the whole exchange
double timeOf(const ToyRules& rules, const std::vector<double>& speeds, std::size_t memory,
              double stepSeconds, std::vector<std::int64_t>& steps) {
  VirtualTimeNetworkOptions options;
  options.ranks = rules.assignment.ranks();
  options.speeds = speeds;
  const auto network = makeVirtualTimeNetwork(options);
  steps.assign(speeds.size(), 0);
  double end = 0;
  network->run([&](Transport& transport) {
    LendingOptions lending;
    lending.memory = memory;
    Trader trader(transport, rules, lending, stepSeconds);
    const double begin = transport.now();
    runExchange(transport, trader);
    end = std::max(end, transport.now() - begin);
    steps[static_cast<std::size_t>(transport.rank())] = trader.steps();
    expectReference(transport, rules, lending, trader);
  });
  EXPECT_EQ(network->left(), "");
  return end;
}

constexpr double StepSeconds = 1e-3;  // long compared to messages and copies
constexpr std::size_t Room = 1 << 20;

ToyRules oneBlock(int ranks, std::int64_t tokens) {
  ToyRules rules;
  std::vector<std::int64_t> counts(static_cast<std::size_t>(ranks), 0);
  counts[0] = 1;
  rules.assignment = Assignment(counts);
  rules.tokens = {tokens};
  rules.mostWords = MostWords;
  return rules;
}

TEST(Lending, SharesTheWorkOfOneRankInVirtualTime) {
  constexpr std::int64_t Tokens = 1024;
  for (const int ranks : {2, 3, 4, 7, 8, 16}) {
    std::vector<std::int64_t> steps;
    const double time =
        timeOf(oneBlock(ranks, Tokens), std::vector<double>(ranks, 1), Room, StepSeconds, steps);
    std::printf("%d ranks: %g s\n", ranks, time);
    EXPECT_LT(time, 1.5 * Tokens * StepSeconds / ranks) << ranks << " ranks";
  }
}

// The slow rank borrows half of n items, and when the others have done theirs they take back half
// of what it has not done, again and again. It receives and sends between two items: until it has
// read a request, sent an offer, read the acceptance and sent the loan, it does 4 items. So it does
// at most 4 (log2(n) + 1) of them after the others are done, where its loan alone would be n / 2.
TEST(Lending, ASlowBorrowerIsWaitedForOnlyForItsOwnShare) {
  constexpr std::int64_t Tokens = 1024;
  constexpr double Slowness = 50;
  for (const int ranks : {2, 3, 8}) {
    for (int slow = 1; slow < ranks; ++slow) {
      std::vector<double> speeds(static_cast<std::size_t>(ranks), 1);
      speeds[static_cast<std::size_t>(slow)] = 1 / Slowness;
      std::vector<std::int64_t> steps;
      const double time = timeOf(oneBlock(ranks, Tokens), speeds, Room, StepSeconds, steps);
      const double others = Tokens * StepSeconds / (ranks - 1);
      const double own = 4 * (std::log2(Tokens) + 1) * Slowness * StepSeconds;
      std::printf("%d ranks, %d is slow: %g s, %lld steps (others %g, own %g)\n", ranks, slow, time,
                  static_cast<long long>(steps[static_cast<std::size_t>(slow)]), others, own);
      EXPECT_LT(time, 1.25 * others + own);
      EXPECT_GT(steps[static_cast<std::size_t>(slow)], 0);
    }
  }
}

// A slow rank that owns the work ends no later than without lending, and much sooner.
TEST(Lending, ASlowLenderEndsSooner) {
  constexpr std::int64_t Tokens = 256;
  const std::vector<double> speeds = {0.02, 1, 1};
  std::vector<std::int64_t> steps;
  const double alone = timeOf(oneBlock(3, Tokens), speeds, 0, StepSeconds, steps);
  EXPECT_GE(alone, Tokens * StepSeconds / 0.02);
  const double together = timeOf(oneBlock(3, Tokens), speeds, Room, StepSeconds, steps);
  std::printf("alone %g, together %g s, %lld steps\n", alone, together, (long long)steps[0]);
  EXPECT_LT(together, alone / 4);
}

}  // namespace
}  // namespace tributary
