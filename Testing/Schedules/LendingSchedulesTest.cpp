// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "LendingScenarios.h"
#include "ScenarioChecks.h"

namespace tributary::schedules {
namespace {

// All schedules of Lending with few tokens on few ranks.
TEST(LendingSchedules, AllAreRight) {
  expectRight(lendingScenarios(longSuite()));
}

}  // namespace
}  // namespace tributary::schedules
