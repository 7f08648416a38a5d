// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "IterationScenarios.h"
#include "ScenarioChecks.h"

namespace tributary::schedules {
namespace {

// All schedules of the state machines of Core/Iteration on small graphs.
TEST(IterationSchedules, AllAreRight) {
  expectRight(iterationScenarios(longSuite()));
}

}  // namespace
}  // namespace tributary::schedules
