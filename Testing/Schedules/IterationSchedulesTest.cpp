// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>

#include "Exploration.h"
#include "IterationScenarios.h"
#include "Support/Effort.h"

namespace tributary::schedules {
namespace {

// All schedules of the state machines of Core/Iteration on small graphs.
TEST(IterationSchedules, AllAreRight) {
  struct Totals {
    int explorations = 0;
    std::int64_t states = 0;
    std::int64_t transitions = 0;
    std::int64_t quiet = 0;
    std::int64_t ends = 0;
  };
  std::map<std::string, Totals> totals;
  const bool large = std::getenv("TRIBUTARY_SCHEDULES") != nullptr;
  for (const Scenario& scenario : iterationScenarios(large)) {
    if (tributary::testing::Sanitized && scenario.ranks > 2) continue;
    const Exploration result = explore(scenario);
    EXPECT_EQ(result.violation, "")
        << scenario.subject << " on " << scenario.name << ", schedule: " << result.schedule;
    EXPECT_FALSE(result.truncated) << scenario.subject << " on " << scenario.name;
    EXPECT_GT(result.endStates, 0) << scenario.subject << " on " << scenario.name;
    std::printf("%s, %s: %lld states\n", scenario.subject.c_str(), scenario.name.c_str(),
                static_cast<long long>(result.states));
    Totals& all = totals[scenario.subject];
    ++all.explorations;
    all.states += result.states;
    all.transitions += result.transitions;
    all.quiet += result.quietStates;
    all.ends += result.endStates;
  }
  for (const auto& [subject, all] : totals) {
    std::printf("| %-28s | %3d | %8lld | %9lld | %7lld | %7lld |\n", subject.c_str(),
                all.explorations, static_cast<long long>(all.states),
                static_cast<long long>(all.transitions), static_cast<long long>(all.quiet),
                static_cast<long long>(all.ends));
  }
}

}  // namespace
}  // namespace tributary::schedules
