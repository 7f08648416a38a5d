// SPDX-License-Identifier: BSD-3-Clause
#include "FlowMap/FlowMapPlan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace tributary {
namespace {

using Times = std::vector<double>;

struct Plan : FlowMapPlan {
  void make(const Times& steps, double time, double duration, const std::set<double>& kept = {}) {
    plan({steps.data(), steps.size()}, time, duration,
         [&](double step) { return kept.count(step) > 0; });
  }
  /// The steps that are executed.
  Times run() {
    Times times;
    do times.push_back(next());
    while (advance());
    return times;
  }
};

const Times Steps{0, 1, 2, 4, 8};

TEST(FlowMapPlan, WindowsAtStepsNeedTheirSteps) {
  Plan plan;
  plan.make(Steps, 1, 3);
  EXPECT_EQ(plan.path(), (Times{1, 2, 4}));
  EXPECT_EQ(plan.run(), plan.path());
  EXPECT_EQ(plan.begin(), 1);
  EXPECT_EQ(plan.end(), 4);
  EXPECT_FALSE(plan.isCut());
  EXPECT_FALSE(plan.isSteady());
  plan.make(Steps, 4, -3);
  EXPECT_EQ(plan.path(), (Times{4, 2, 1}));
  EXPECT_EQ(plan.end(), 1);
  EXPECT_FALSE(plan.isCut());
}

TEST(FlowMapPlan, WindowsBetweenStepsNeedThoseAround) {
  Plan plan;
  plan.make(Steps, 1.5, 1);
  EXPECT_EQ(plan.path(), (Times{1, 2, 4}));
  EXPECT_EQ(plan.begin(), 1.5);
  EXPECT_EQ(plan.end(), 2.5);
  plan.make(Steps, 5, 0.5);
  EXPECT_EQ(plan.path(), (Times{4, 8}));
  plan.make(Steps, 5, -0.5);
  EXPECT_EQ(plan.path(), (Times{8, 4}));
  plan.make(Steps, 5, -1);
  EXPECT_EQ(plan.path(), (Times{8, 4}));
}

TEST(FlowMapPlan, WindowsEndWithTheSteps) {
  Plan plan;
  plan.make(Steps, 4, 9);
  EXPECT_EQ(plan.path(), (Times{4, 8}));
  EXPECT_EQ(plan.end(), 8);
  EXPECT_TRUE(plan.isCut());
  plan.make(Steps, 8, 1);
  EXPECT_EQ(plan.path(), (Times{8}));
  EXPECT_EQ(plan.end(), plan.begin());
  EXPECT_TRUE(plan.isCut());
  plan.make(Steps, 1, -9);
  EXPECT_EQ(plan.path(), (Times{1, 0}));
  EXPECT_TRUE(plan.isCut());
}

TEST(FlowMapPlan, TimesOutsideCountAsTheNearestStep) {
  Plan plan;
  plan.make(Steps, -5, 1);
  EXPECT_EQ(plan.begin(), 0);
  EXPECT_EQ(plan.path(), (Times{0, 1}));
  plan.make(Steps, 50, -4);
  EXPECT_EQ(plan.begin(), 8);
  EXPECT_EQ(plan.path(), (Times{8, 4}));
  plan.make(Steps, std::nan(""), 1);
  EXPECT_EQ(plan.begin(), 0);
  plan.make(Steps, std::nan(""), -1);
  EXPECT_EQ(plan.begin(), 8);
}

TEST(FlowMapPlan, KeptStepsAreNotExecuted) {
  Plan plan;
  plan.make(Steps, 0, 8);
  EXPECT_EQ(plan.run(), Steps);
  plan.make(Steps, 0, 8, {1, 4});
  EXPECT_EQ(plan.reads(), 3u);
  EXPECT_EQ(plan.run(), (Times{0, 2, 8}));
  // If all are kept, the data of the last execution do, which the input still has.
  plan.make(Steps, 1, 3, {1, 2, 4});
  EXPECT_FALSE(plan.isReading());
  EXPECT_EQ(plan.run(), (Times{8}));
}

TEST(FlowMapPlan, InputsWithoutSeveralStepsAreSteady) {
  Plan plan;
  plan.make({}, std::nan(""), -2);
  EXPECT_TRUE(plan.isSteady());
  EXPECT_EQ(plan.end(), -2);
  EXPECT_FALSE(plan.isCut());
  plan.setTime(7);
  EXPECT_EQ(plan.begin(), 7);
  EXPECT_EQ(plan.end(), 5);
  plan.make({3, 3}, 9, 2);  // one step, as Catalyst reports it
  EXPECT_TRUE(plan.isSteady());
  EXPECT_EQ(plan.run(), (Times{3}));
  EXPECT_EQ(plan.begin(), 9);
  plan.setTime(7);  // one was requested
  EXPECT_EQ(plan.begin(), 9);
}

}  // namespace
}  // namespace tributary
