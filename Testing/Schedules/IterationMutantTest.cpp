// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "IterationScenarios.h"
#include "ScenarioChecks.h"

namespace tributary::schedules {
namespace {

// This program is linked with one source of Core/Iteration that has one error: some scenario must
// find it, and its schedule must show it again.
TEST(IterationMutant, IsFound) {
  expectFound(iterationScenarios(false));
}

}  // namespace
}  // namespace tributary::schedules
