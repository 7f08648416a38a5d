// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdio>

#include "Exploration.h"
#include "IterationScenarios.h"

namespace tributary::schedules {
namespace {

// This program is linked with one source of Core/Iteration that has one error: some scenario must
// find it, and its schedule must show it again.
TEST(IterationMutant, IsFound) {
  std::int64_t states = 0;
  for (const Scenario& scenario : iterationScenarios(false)) {
    const Exploration result = explore(scenario);
    states += result.states;
    if (result.violation.empty()) continue;
    std::printf("%s, %s: %s\nafter %lld states of this scenario, %lld of all; schedule: %s\n",
                scenario.subject.c_str(), scenario.name.c_str(), result.violation.c_str(),
                static_cast<long long>(result.states), static_cast<long long>(states),
                result.schedule.c_str());
    // One that only a fair run shows has no end of its own.
    if (result.violation.find("fair run") == std::string::npos) {
      EXPECT_EQ(replay(scenario, result.schedule), result.violation);
    }
    return;
  }
  FAIL() << "not found";
}

}  // namespace
}  // namespace tributary::schedules
