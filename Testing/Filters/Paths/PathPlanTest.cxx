// SPDX-License-Identifier: BSD-3-Clause
/// The steps that a path tracer executes for a time, and what it does at each.
#include "Paths/PathPlan.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "Tributary/Base/Error.h"

namespace tributary {
namespace {

using Task = PathPlan::Task;

constexpr double NoTime = std::numeric_limits<double>::quiet_NaN();
const std::vector<double> Steps{0, 1, 2, 3};

/// Executes what is planned. Returns a letter and the index of the step for each execution.
std::string executeAll(PathPlan& plan) {
  std::string text;
  for (bool goesOn = true; goesOn;) {
    const double step = plan.steps().at(plan.next());
    const Task task = plan.task(step);
    text += "FALPN"[static_cast<int>(task)] + std::to_string(plan.next());
    goesOn = plan.advance(task, step);
  }
  return text;
}

/// Plans and executes the steps for a time; see executeAll().
std::string executed(PathPlan& plan, double time, bool canContinue = true,
                     const std::vector<double>& steps = Steps) {
  plan.plan({steps.data(), steps.size()}, time, canContinue);
  return executeAll(plan);
}

TEST(PathPlan, ExecutesStepsThatWereNotAdded) {
  PathPlan plan;
  EXPECT_EQ(executed(plan, 1, false), "F0A1");
  EXPECT_EQ(plan.needed(), 2U);
  EXPECT_EQ(plan.outputTime(), 1);
  EXPECT_EQ(executed(plan, 3), "A2A3");
  EXPECT_EQ(executed(plan, 3), "N3");
  EXPECT_EQ(executed(plan, 1), "N3") << "an earlier step needs no data";
  EXPECT_EQ(plan.needed(), 2U);
  EXPECT_EQ(executed(plan, 9), "N3");
  EXPECT_EQ(plan.outputTime(), 3);
  EXPECT_EQ(executed(plan, -9), "N3");
  EXPECT_EQ(plan.needed(), 1U);
  EXPECT_EQ(plan.outputTime(), 0);
  EXPECT_EQ(executed(plan, 1, false), "F0A1") << "what was added is forgotten";
}

TEST(PathPlan, TracesPartsOfIntervals) {
  PathPlan plan;
  EXPECT_EQ(executed(plan, 1.5, false), "F0A1P2");
  EXPECT_EQ(plan.needed(), 2U);
  EXPECT_EQ(plan.outputTime(), 1.5);
  EXPECT_EQ(executed(plan, 1.25), "P2");
  EXPECT_EQ(executed(plan, 2), "A2");
  EXPECT_EQ(executed(plan, 0.5), "L0P1");
  EXPECT_EQ(executed(plan, 0.75), "P1");
  EXPECT_EQ(executed(plan, 1.5), "L1P2");
  EXPECT_EQ(executed(plan, 2.5), "L2P3");
  EXPECT_EQ(executed(plan, 0.5), "L0P1");
  EXPECT_EQ(executed(plan, 3), "L2A3") << "continues from the last step that was added";
}

TEST(PathPlan, ContinuesWhereStepsAreAppended) {
  PathPlan plan;
  EXPECT_EQ(executed(plan, NoTime, false, {0, 0}), "F0") << "Catalyst repeats the first step";
  EXPECT_EQ(executed(plan, NoTime, true, {0, 1}), "A1");
  EXPECT_EQ(executed(plan, NoTime, true, {0, 1}), "N1");
  EXPECT_EQ(executed(plan, 2, true, {0, 1, 2}), "A2");
  EXPECT_EQ(executed(plan, 2, true, {0, 1.5, 2}), "F0A1A2") << "other steps";
}

TEST(PathPlan, PassesOverStepsThatTheInputLacks) {
  PathPlan plan;
  plan.plan({Steps.data(), Steps.size()}, 2, false);
  plan.passOver();
  plan.passOver();
  EXPECT_EQ(plan.next(), plan.goal());
  EXPECT_EQ(plan.task(2), Task::First);
  EXPECT_FALSE(plan.advance(Task::First, 2));
  EXPECT_EQ(plan.outputTime(), 2);
  EXPECT_EQ(executed(plan, 3), "A1") << "3 is the second of the steps that are left";
}

TEST(PathPlan, AddsTheDataOfEachExecutionInSitu) {
  PathPlan plan;
  const auto add = [&](double time, bool canContinue = true) {
    plan.plan({}, NoTime, canContinue);
    const Task task = plan.task(time);
    EXPECT_FALSE(plan.advance(task, time));
    return task;
  };
  EXPECT_EQ(add(0, false), Task::First);
  EXPECT_EQ(add(1), Task::Advance);
  EXPECT_EQ(add(1), Task::Load) << "the same time again";
  EXPECT_EQ(add(2), Task::Advance);
  EXPECT_EQ(plan.needed(), 3U);
  EXPECT_EQ(plan.outputTime(), 2);
  EXPECT_EQ(add(1), Task::First) << "an earlier time";
  EXPECT_EQ(add(2, false), Task::First);
}

/// A plan that continues from steps that another process has added.
PathPlan resumed(const std::vector<double>& added, const std::vector<double>& steps, double time,
                 const std::set<double>& passedOver = {}) {
  PathPlan plan;
  plan.plan({steps.data(), steps.size()}, time, false);
  EXPECT_TRUE(plan.planToResume(added, passedOver));
  return plan;
}

TEST(PathPlan, ResumesFromACheckpoint) {
  PathPlan plan = resumed({0, 1}, Steps, 3);
  EXPECT_EQ(executeAll(plan), "L1A2A3");
  EXPECT_EQ(executed(plan, 1), "N3");
  plan = resumed({0, 1, 2}, Steps, 0);
  EXPECT_EQ(executeAll(plan), "N0") << "particles at an earlier step are known";
  EXPECT_EQ(executed(plan, 3), "L2A3");
  plan = resumed({0, 1, 2}, Steps, 0.5);
  EXPECT_EQ(executeAll(plan), "L0P1");
  plan = resumed({0, 1, 2}, Steps, 2);
  EXPECT_EQ(executeAll(plan), "L2") << "a simulation has these data now only";
  EXPECT_EQ(executed(plan, 3), "A3");
  plan = resumed({0, 2}, Steps, 3, {1});
  EXPECT_EQ(plan.steps(), (std::vector<double>{0, 2, 3})) << "1 was passed over";
  EXPECT_EQ(executeAll(plan), "L1A2");
  plan = resumed({1, 2}, Steps, 3, {0});
  EXPECT_EQ(plan.steps(), (std::vector<double>{1, 2, 3})) << "the first step was passed over";
  EXPECT_EQ(executeAll(plan), "L1A2");
}

TEST(PathPlan, ResumesWhereASimulationRestarts) {
  PathPlan plan = resumed({0, 1, 2}, {2, 2}, NoTime);
  EXPECT_EQ(executeAll(plan), "L2");
  EXPECT_EQ(plan.needed(), 3U);
  EXPECT_EQ(executed(plan, NoTime, true, {2, 3}), "A3");
  EXPECT_EQ(plan.added(), Steps);
  plan = resumed({0, 1, 2}, {1}, 1);
  EXPECT_EQ(plan.added(), (std::vector<double>{0, 1})) << "the simulation computes 2 again";
  EXPECT_EQ(executeAll(plan), "L1");
  EXPECT_EQ(executed(plan, 1.5, true, {1, 1.5}), "A2");
  EXPECT_EQ(executed(plan, 1.5, false, {1, 1.5}), "F0A1") << "what was resumed is forgotten";
}

TEST(PathPlan, ResumesOnlyStepsThatFit) {
  const std::vector<double> added{0, 1, 2};
  for (const std::vector<double>& steps :
       {std::vector<double>{0, 1.5, 2}, {0.5, 1, 2}, {3, 4}, {-1, 0, 1}}) {
    PathPlan plan;
    plan.plan({steps.data(), steps.size()}, 2, false);
    EXPECT_FALSE(plan.planToResume(added, {}));
    EXPECT_EQ(plan.steps(), steps);
    EXPECT_TRUE(plan.added().empty());
  }
}

TEST(PathPlan, ResumesInSituAtAStepOfTheCheckpoint) {
  for (const double time : {0.0, 1.0, 2.0}) {
    PathPlan plan = resumed({0, 1, 2}, {}, NoTime);
    plan.rewind(time);
    EXPECT_EQ(plan.added().size(), static_cast<std::size_t>(time) + 1);
    EXPECT_EQ(plan.task(time), Task::Load);
    EXPECT_FALSE(plan.advance(Task::Load, time));
    EXPECT_EQ(plan.task(5), Task::Advance);
  }
  PathPlan plan = resumed({0, 1, 2}, {}, NoTime);
  EXPECT_THROW(plan.rewind(3), Error);
  EXPECT_THROW(plan.rewind(1.5), Error);
  plan.rewind(-1);
  EXPECT_EQ(plan.task(-1), Task::First);
}

}  // namespace
}  // namespace tributary
