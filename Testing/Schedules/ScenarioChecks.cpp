// SPDX-License-Identifier: BSD-3-Clause
#include "ScenarioChecks.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>

#include "Exploration.h"
#include "Support/Effort.h"

namespace tributary::schedules {

bool longSuite() {
  return std::getenv("TRIBUTARY_SCHEDULES") != nullptr;
}

void expectRight(const std::vector<Scenario>& scenarios) {
  struct Totals {
    int explorations = 0;
    std::int64_t states = 0;
    std::int64_t transitions = 0;
    std::int64_t quiet = 0;
    std::int64_t ends = 0;
  };
  std::map<std::string, Totals> totals;
  for (const Scenario& scenario : scenarios) {
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

void expectFound(const std::vector<Scenario>& scenarios) {
  std::int64_t states = 0;
  for (const Scenario& scenario : scenarios) {
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

}  // namespace tributary::schedules
