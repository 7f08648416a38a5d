// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "LendingScenarios.h"
#include "ScenarioChecks.h"
#include "Support/Effort.h"

namespace tributary::schedules {
namespace {

// All schedules of Lending with few tokens on few ranks; on 3 ranks if thorough. With sanitizers
// one detector is enough: schedules are the same without.
TEST(LendingSchedules, AllAreRight) {
  std::vector<Scenario> scenarios = lendingScenarios(longSuite());
  if (!longSuite() && !testing::thorough()) {
    const auto quick = [](const Scenario& scenario) {
      return scenario.ranks <= 2 &&
             (!testing::Sanitized || scenario.subject == "lending, hash-counter");
    };
    scenarios.erase(std::stable_partition(scenarios.begin(), scenarios.end(), quick),
                    scenarios.end());
  }
  ASSERT_FALSE(scenarios.empty());
  expectRight(scenarios);
}

}  // namespace
}  // namespace tributary::schedules
