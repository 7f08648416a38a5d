// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Balance/LendingPolicy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "Support/Effort.h"
#include "Support/World.h"
#include "Tributary/Balance/WorkMeter.h"

namespace tributary {
namespace {

using testing::mix;
using testing::someOf;

double writing(const LoanTerms& terms) {
  return static_cast<double>(terms.copyBytes) * terms.writeSecondsPerByte;
}

/// When both ranks end if this many items are lent.
double endWith(const LoanTerms& terms, std::int64_t items) {
  if (items == 0) return terms.seconds;
  const double moved =
      terms.blockSeconds * static_cast<double>(items) / static_cast<double>(terms.items);
  const double arriving =
      std::max(writing(terms) + terms.latency +
                   static_cast<double>(terms.copyBytes) * terms.transferSecondsPerByte,
               terms.borrowerSeconds);
  return std::max(terms.seconds - moved + writing(terms), arriving + moved);
}

/// Terms of all sizes: costs from negligible to too high, little and much work in the block.
LoanTerms randomTerms(std::uint64_t seed) {
  auto random = [&, n = std::uint64_t(0)]() mutable {
    return static_cast<double>(mix(mix(seed) + n++) >> 11) / 9007199254740992.0;
  };
  LoanTerms terms;
  terms.items = static_cast<std::int64_t>(random() * (seed % 2 == 0 ? 5 : 300));
  terms.blockSeconds = random() * 1e-2;
  terms.seconds = terms.blockSeconds * (seed % 3 == 0 ? 1 : 1 + 2 * random());
  if (seed % 6 < 2) terms.borrowerSeconds = random() * terms.seconds;
  terms.latency = 1e-5 * random() * (seed % 5 == 0 ? 1000 : 1);
  if (seed % 4 != 0) terms.copyBytes = static_cast<std::size_t>(random() * 1e6);
  terms.writeSecondsPerByte = 4e-9 * random();
  terms.transferSecondsPerByte = 4e-9 * random();
  return terms;
}

TEST(CostPolicy, EqualsTheBestOfAllNumbersOfItems) {
  int lent = 0, limited = 0, refused = 0;
  for (std::uint64_t seed = 0; seed < someOf(40000); ++seed) {
    const LoanTerms terms = randomTerms(seed);
    const double leastGain = seed % 7 == 0 ? 0 : 20e-6;
    double best = terms.seconds;
    for (std::int64_t items = 1; items <= terms.items; ++items)
      best = std::min(best, endWith(terms, items));
    const double brings = terms.seconds - best;
    const double costs = std::max(leastGain, writing(terms));
    if (std::abs(brings - costs) < 1e-12) continue;  // on the border, subject to rounding
    const PlannedLoan loan = makeCostPolicy(leastGain)->plan(terms);
    SCOPED_TRACE("seed " + std::to_string(seed));
    if (brings < costs) {
      EXPECT_EQ(loan.items, 0);
      EXPECT_EQ(loan.gain, 0);
      ++refused;
      continue;
    }
    ASSERT_GE(loan.items, 1);
    ASSERT_LE(loan.items, terms.items);
    EXPECT_NEAR(endWith(terms, loan.items), best, 1e-12);
    EXPECT_NEAR(loan.gain, brings, 1e-12);
    limited += loan.items == terms.items;
    ++lent;
  }
  EXPECT_GT(lent, 1000);
  EXPECT_GT(limited, 100);
  EXPECT_GT(refused, 1000);
}

/// A lender with this many items of a second.
LoanTerms seconds(std::int64_t items) {
  LoanTerms terms;
  terms.items = items;
  terms.seconds = terms.blockSeconds = static_cast<double>(items);
  return terms;
}

TEST(CostPolicy, LendsHalfIfLendingIsFree) {
  for (std::int64_t items = 0; items < 100; ++items) {
    const PlannedLoan loan = makeCostPolicy()->plan(seconds(items));
    EXPECT_EQ(loan.items, items / 2);
    EXPECT_EQ(loan.gain, static_cast<double>(items / 2));
  }
}

// The lender has 1,000 s of work and writes for 100 s. The borrower begins after 300 s.
TEST(CostPolicy, BothEndAtTheSameTime) {
  LoanTerms terms = seconds(1000);
  terms.copyBytes = 1 << 20;
  terms.writeSecondsPerByte = 100.0 / (1 << 20);
  terms.transferSecondsPerByte = 150.0 / (1 << 20);
  terms.latency = 50;
  const PlannedLoan loan = makeCostPolicy()->plan(terms);
  EXPECT_EQ(loan.items, 400);
  EXPECT_DOUBLE_EQ(loan.gain, 300);
  terms.items = 10;  // the others are in progress, or elsewhere
  terms.blockSeconds = 10;
  EXPECT_EQ(makeCostPolicy()->plan(terms).items, 0);  // a gain of 10 - 100 s
  terms.copyBytes = 0;
  EXPECT_EQ(makeCostPolicy()->plan(terms).items, 10);
}

// The lender has 1,000 s of work, the borrower 200 s.
TEST(CostPolicy, ABorrowerWithWorkGetsLess) {
  LoanTerms terms = seconds(1000);
  terms.borrowerSeconds = 200;
  const PlannedLoan loan = makeCostPolicy()->plan(terms);
  EXPECT_EQ(loan.items, 400);
  EXPECT_DOUBLE_EQ(loan.gain, 400);
  terms.borrowerSeconds = 1000;
  EXPECT_EQ(makeCostPolicy()->plan(terms).items, 0);
}

TEST(CostPolicy, TheOnlyItemThatWaitsIsLentIfTheLenderHasOtherWork) {
  LoanTerms terms = seconds(1);
  EXPECT_EQ(makeCostPolicy()->plan(terms).items, 0);
  terms.seconds = 1.9;
  EXPECT_EQ(makeCostPolicy()->plan(terms).items, 1);
}

TEST(CostPolicy, LendsNothingAtTheLimits) {
  const auto policy = makeCostPolicy();
  EXPECT_EQ(policy->plan({}).items, 0);
  LoanTerms terms = seconds(100);
  terms.blockSeconds = 0;  // before anything was measured
  EXPECT_EQ(policy->plan(terms).items, 0);
  terms = seconds(100);
  terms.latency = 100;
  EXPECT_EQ(policy->plan(terms).items, 0);
  terms = seconds(100);
  terms.copyBytes = std::numeric_limits<std::size_t>::max();
  terms.writeSecondsPerByte = terms.transferSecondsPerByte = 1e-9;
  EXPECT_EQ(policy->plan(terms).items, 0);
  for (const double bad :
       {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
        std::numeric_limits<double>::quiet_NaN()}) {
    for (double LoanTerms::*member : {&LoanTerms::seconds, &LoanTerms::blockSeconds,
                                      &LoanTerms::latency, &LoanTerms::writeSecondsPerByte}) {
      terms = seconds(100);
      terms.copyBytes = 1;
      terms.*member = bad;
      const std::int64_t items = policy->plan(terms).items;
      EXPECT_TRUE(items >= 0 && items <= 100) << items;
    }
  }
  // The numbers of items are limited by those that wait, whatever the times.
  terms = seconds(std::int64_t(1) << 50);
  terms.seconds *= 4;
  EXPECT_EQ(policy->plan(terms).items, terms.items);
}

TEST(CostPolicy, LendsNothingThatGainsLessThanAsked) {
  EXPECT_EQ(makeCostPolicy(49)->plan(seconds(100)).items, 50);
  EXPECT_EQ(makeCostPolicy(50)->plan(seconds(100)).items, 0);
}

TEST(CostPolicy, IdleRanksAsk) {
  const auto policy = makeCostPolicy();
  EXPECT_TRUE(policy->asks(true));
  EXPECT_FALSE(policy->asks(false));
}

TEST(CostPolicy, ARankWithLittleWorkAcceptsALargeOffer) {
  const auto policy = makeCostPolicy();
  EXPECT_TRUE(policy->accepts(true, 0, 0));
  EXPECT_TRUE(policy->accepts(false, 2, 1));
  EXPECT_FALSE(policy->accepts(false, 2, 1.1));
  EXPECT_FALSE(policy->accepts(false, 2, 0));  // not known
}

TEST(WorkMeter, IsTheMeanOfThoseThatHaveEnded) {
  WorkMeter meter;
  EXPECT_EQ(meter.secondsPerItem(), 0);
  meter.begin(4);
  EXPECT_EQ(meter.secondsPerItem(), 0);
  meter.spend(6);
  EXPECT_EQ(meter.secondsPerItem(), 3);  // so far none has ended: 6 s for half of them
  meter.end(1);
  EXPECT_EQ(meter.secondsPerItem(), 3);
  meter.end(2);
  EXPECT_EQ(meter.secondsPerItem(), 2);
  meter.spend(2);
  meter.end(1);
  EXPECT_EQ(meter.secondsPerItem(), 2);
  meter.begin(100);  // which have taken no time yet
  EXPECT_DOUBLE_EQ(meter.secondsPerItem(), 8.0 / 52);
}

}  // namespace
}  // namespace tributary
