// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "LendingScenarios.h"
#include "ScenarioChecks.h"

namespace tributary::schedules {
namespace {

// This program is linked with a source of Core/Balance that has one error.
TEST(BalanceMutant, IsFound) {
  expectFound(lendingScenarios(false));
}

}  // namespace
}  // namespace tributary::schedules
