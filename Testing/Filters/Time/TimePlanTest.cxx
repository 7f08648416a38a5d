// SPDX-License-Identifier: BSD-3-Clause
// Which time steps a feature tracker executes, without a pipeline.
#include "Time/TimePlan.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

using tributary::TimePlan;
using Start = TimePlan::Start;

namespace {

const double NoTime = std::numeric_limits<double>::quiet_NaN();

/// Plans and executes all steps up to a time. @return the times of the steps
std::vector<double> executed(TimePlan& plan, const std::vector<double>& steps, double time,
                             bool canContinue = true) {
  plan.plan(steps, time, canContinue);
  std::vector<double> times;
  bool isUnderWay = true;
  while (isUnderWay) {
    times.push_back(plan.steps()[plan.next()]);
    const Start start = plan.start(times.back());
    EXPECT_EQ(start == Start::First, times.size() == 1 && times.back() == steps.front());
    EXPECT_NE(start, Start::Again);
    plan.add(times.back());
    isUnderWay = plan.advance();
  }
  EXPECT_EQ(plan.lastTime(), times.back());
  return times;
}

using Times = std::vector<double>;

TEST(TimePlan, ExecutesTheStepsThatItHasNotAdded) {
  TimePlan plan;
  EXPECT_EQ(executed(plan, {0, 1, 2, 3}, 1.5, false), (Times{0, 1}));
  EXPECT_EQ(executed(plan, {0, 1, 2, 3}, 3), (Times{2, 3}));
  EXPECT_EQ(plan.executed(), (Times{0, 1, 2, 3}));
}

TEST(TimePlan, RestartsAtEarlierTimesAndAfterChanges) {
  TimePlan plan;
  EXPECT_EQ(executed(plan, {0, 1, 2}, 2, false), (Times{0, 1, 2}));
  EXPECT_EQ(executed(plan, {0, 1, 2}, 2), (Times{0, 1, 2}));
  EXPECT_EQ(executed(plan, {0, 1, 2}, 1), (Times{0, 1}));
  EXPECT_EQ(executed(plan, {0, 1, 2}, 2, false), (Times{0, 1, 2}));
  EXPECT_EQ(executed(plan, {0, 1.5, 2, 3}, 3), (Times{0, 1.5, 2, 3}));
}

TEST(TimePlan, ContinuesWithAppendedSteps) {
  TimePlan plan;
  EXPECT_EQ(executed(plan, {0, 1}, 1, false), (Times{0, 1}));
  EXPECT_EQ(executed(plan, {0, 1, 2, 3}, NoTime), (Times{2, 3}));
  // A repeated first step counts once.
  EXPECT_EQ(executed(plan, {0, 0, 1, 2, 3, 4}, 4), (Times{4}));
}

TEST(TimePlan, FollowsTheTimesOfDataInSitu) {
  TimePlan plan;
  const auto start = [&](double time, bool canContinue = true) {
    plan.plan({}, NoTime, canContinue);
    const Start how = plan.start(time);
    plan.add(time);
    EXPECT_FALSE(plan.advance());
    return how;
  };
  EXPECT_EQ(start(1, false), Start::First);
  EXPECT_EQ(start(2), Start::Next);
  EXPECT_EQ(start(2), Start::Again);
  EXPECT_EQ(start(3), Start::Next);
  EXPECT_EQ(start(1), Start::First);
}

TEST(TimePlan, ResumesCheckpoints) {
  TimePlan plan;
  plan.plan(Times{0, 1, 2, 3}, 3, false);
  EXPECT_FALSE(plan.fits({}));
  EXPECT_FALSE(plan.fits({0, 2}));
  ASSERT_TRUE(plan.fits({0, 1}));
  ASSERT_TRUE(plan.planToResume({0, 1}));
  EXPECT_EQ(plan.next(), 2u);
  EXPECT_EQ(plan.start(2), Start::First);
  EXPECT_EQ(plan.resume({0, 1}, 1, 2), Start::Next);
  EXPECT_EQ(plan.executed(), (Times{0, 1}));
  // The last step of the checkpoint is executed again if no later one is requested.
  TimePlan again;
  again.plan(Times{0, 1, 2, 3}, 1, false);
  ASSERT_TRUE(again.planToResume({0, 1}));
  EXPECT_EQ(again.start(1), Start::First);
  EXPECT_EQ(again.resume({0, 1}, 1, 1), Start::Again);
  EXPECT_EQ(again.executed(), (Times{0}));
  TimePlan before;
  before.plan(Times{0, 1, 2, 3}, 0, false);
  EXPECT_FALSE(before.planToResume({0, 1}));
}

/// A plan that has resumed steps 0, 1 and 2 at 2, and executed it again.
TimePlan restarted() {
  TimePlan plan;
  plan.plan(Times{2, 2}, NoTime, false);  // Catalyst repeats the first step
  EXPECT_TRUE(plan.fits({0, 1, 2}));
  EXPECT_TRUE(plan.planToResume({0, 1, 2}));
  EXPECT_EQ(plan.steps().at(plan.next()), 2);
  EXPECT_EQ(plan.start(2), Start::First);
  EXPECT_EQ(plan.resume({0, 1, 2}, 2, 2), Start::Again);
  plan.add(2);
  EXPECT_FALSE(plan.advance());
  return plan;
}

TEST(TimePlan, ResumesWhereASimulationRestarts) {
  TimePlan plan = restarted();
  EXPECT_EQ(plan.executed(), (Times{0, 1, 2}));
  EXPECT_EQ(executed(plan, {2, 3}, 3), (Times{3}));
  EXPECT_EQ(executed(plan, {2, 3, 4}, NoTime), (Times{4}));
  EXPECT_EQ(plan.executed(), (Times{0, 1, 2, 3, 4})) << "as if it had never stopped";
  // The input reports later steps too, as files do of which the first ones were removed.
  TimePlan more;
  more.plan(Times{1, 2, 3, 4}, 3, false);
  ASSERT_TRUE(more.fits({0, 1, 2}));
  ASSERT_TRUE(more.planToResume({0, 1, 2}));
  EXPECT_EQ(more.steps(), (Times{0, 1, 2, 3, 4}));
  EXPECT_EQ(more.next(), 3u);
  EXPECT_EQ(more.goal(), 3u);
}

TEST(TimePlan, ForgetsResumedStepsWhenItBeginsAnew) {
  for (const bool canContinue : {false, true}) {
    TimePlan plan = restarted();
    plan.plan(Times{2, 3}, canContinue ? 0 : 3, canContinue);
    EXPECT_TRUE(plan.beginsAnew());
    EXPECT_EQ(plan.steps(), (Times{2, 3}));
    EXPECT_EQ(plan.next(), 0u);
    EXPECT_EQ(plan.goal(), canContinue ? 0u : 1u);
  }
}

TEST(TimePlan, ResumesOnlyStepsThatFit) {
  const Times executed{0, 1, 2};
  for (const Times& steps : {Times{0, 1.5, 2}, {0.5, 1, 2}, {3, 4}, {-1, 0, 1}, {1, 3}, {0, 1}}) {
    TimePlan plan;
    plan.plan(steps, 4, false);
    EXPECT_FALSE(plan.fits(executed));
    EXPECT_EQ(plan.steps(), steps);
  }
  // Steps before the restart cannot be executed again.
  TimePlan plan;
  plan.plan(Times{1, 2, 3}, 1, false);
  EXPECT_FALSE(plan.fits(executed));
}

}  // namespace
