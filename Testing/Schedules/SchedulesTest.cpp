// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ostream>

#include "Exploration.h"
#include "Mutants.h"
#include "ScenarioChecks.h"
#include "Support/Effort.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Exchange/Exchange.h"
#include "Tributary/Termination/detail/Consensus.h"
#include "Tributary/Termination/detail/Nbx.h"
#include "Tributary/Termination/detail/RingAps.h"
#include "Tributary/Termination/detail/TreeAps.h"

namespace tributary::schedules {

using namespace detail;
namespace {

using tributary::testing::Sanitized;
using tributary::testing::slowed;

/// Random schedules of all detectors together. The environment variable TRIBUTARY_SCHEDULES gives
/// another number and selects the long suite, which explores all programs and variants.
std::int64_t randomSchedules() {
  if (const char* number = std::getenv("TRIBUTARY_SCHEDULES")) return std::atoll(number);
  return static_cast<std::int64_t>(tributary::testing::someOf(Sanitized ? 2000 : 30000));
}

constexpr std::uint64_t ExploredRandomPrograms = 12;
constexpr int MostRanks = 16;

std::string nameOf(WorkModel model) {
  switch (model) {
    case WorkModel::AP:
      return "AP";
    case WorkModel::APS:
      return "APS";
    case WorkModel::Monotone:
      break;
  }
  return "Monotone";
}

struct Case {
  WorkModel model;
  Subject subject;
};

std::ostream& operator<<(std::ostream& stream, const Case& c) {
  return stream << c.subject.name << " on " << nameOf(c.model) << " programs";
}

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const WorkModel model : {WorkModel::AP, WorkModel::APS, WorkModel::Monotone}) {
    for (const Subject& subject : subjects(model)) list.push_back({model, subject});
  }
  return list;
}

std::string label(const ::testing::TestParamInfo<Case>& info) {
  std::string text = nameOf(info.param.model) + "_" + info.param.subject.name;
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return text;
}

std::vector<Program> allPrograms(WorkModel model) {
  std::vector<Program> programs = smallPrograms(model);
  for (std::uint64_t seed = 0; seed < ExploredRandomPrograms; ++seed) {
    programs.push_back(randomProgram(model, seed, 2));
    programs.back().large = true;
  }
  return programs;
}

class EachDetector : public ::testing::TestWithParam<Case> {};

// All schedules of small programs, with messages received whole, and in halves.
TEST_P(EachDetector, IsRightInAllSchedulesOfSmallPrograms) {
  const WorkModel model = GetParam().model;
  const Subject& subject = GetParam().subject;
  Exploration total;
  std::int64_t largest = 0;
  int programs = 0;
  for (const Program& program : allPrograms(model)) {
    // A tree of two children each is more than a star on four ranks and above.
    const bool deep = subject.options.arity == 2 && program.ranks == 4;
    if (program.large && !deep && !longSuite()) continue;
    if (program.ranks > 2 && Sanitized) continue;
    for (const bool halfReceived : {false, true}) {
      if (halfReceived && program.ranks > 2 && !longSuite()) continue;
      ExplorationLimits limits;
      limits.halfReceived = halfReceived;
      const Exploration result = explore(scenarioOf(subject, program), limits);
      EXPECT_EQ(result.violation, "") << "schedule: " << result.schedule;
      EXPECT_FALSE(result.truncated) << program.name;
      total.states += result.states;
      total.transitions += result.transitions;
      total.quietStates += result.quietStates;
      largest = std::max(largest, result.states);
      ++programs;
    }
  }
  std::printf("| %-8s | %-40s | %3d | %8lld | %9lld | %7lld | %8lld |\n", nameOf(model).c_str(),
              subject.name.c_str(), programs, static_cast<long long>(total.states),
              static_cast<long long>(total.transitions), static_cast<long long>(largest),
              static_cast<long long>(total.quietStates));
}

INSTANTIATE_TEST_SUITE_P(Exploration, EachDetector, ::testing::ValuesIn(cases()), label);

struct Fish {
  const char* name;
  Subject subject;
  WorkModel model;
  bool rare = false;  ///< needs more than one coincidence: too rare for random schedules
};

Subject mutant(const std::string& name, DetectorType type, int initiators = 1) {
  Subject subject{name, std::move(type), {}};
  subject.options.initiators = initiators;
  return subject;
}

std::vector<Fish> fishes() {
  Subject eager = mutant("consensus with eager sends", consensusDetector());
  eager.eagerOnly = true;
  return {
      {"ConsensusWithEagerSends", eager, WorkModel::AP},
      {"ConsensusWithTheLastTestInverted", mutant("consensus, inverted", consensusInverted()),
       WorkModel::AP},
      {"ConsensusBlindToTouches", mutant("consensus, blind", consensusBlindToTouches()),
       WorkModel::AP, true},
      {"RingFlagWithoutPriorities",
       mutant("ring-flag without priorities", ringFlagWithoutPriorities(), 1000), WorkModel::AP,
       true},
      {"RingFlagSetBySendsOnly", mutant("ring-flag on sends only", ringFlagOnSendsOnly()),
       WorkModel::AP},
      {"TreeAckBeforeTheReceiverIsEngaged", mutant("tree-ack, too early", treeAckTooEarly()),
       WorkModel::AP},
      {"FourCounterAfterOneWave", mutant("four-counter, one wave", fourCounterAfterOneWave()),
       WorkModel::AP},
      {"HashCounterOfTotals", mutant("hash-counter of totals", hashCounterOfTotals()),
       WorkModel::AP},
      {"AllReduceOfMoments", mutant("all-reduce of moments", allReduceOfMoments()), WorkModel::AP},
      {"SharedCounterOfHeldWork", mutant("shared-counter of held work", sharedCounterOfHeldWork()),
       WorkModel::AP},
      {"RingCounterOfSomeRanks", mutant("ring-counter of some", ringCounterOfSomeRanks()),
       WorkModel::AP},
      // Right ones where they are not meant to be.
      {"RingApsWhereWorkComesBack", mutant("ring-aps", ringApsDetector()), WorkModel::AP},
      {"TreeApsWhereWorkComesBack", mutant("tree-aps", treeApsDetector()), WorkModel::AP},
      {"NbxWhereWorkComesBack", mutant("nbx", nbxDetector()), WorkModel::AP},
  };
}

std::ostream& operator<<(std::ostream& stream, const Fish& fish) {
  return stream << fish.name;
}

std::vector<Fish> commonFishes() {
  std::vector<Fish> list = fishes();
  list.erase(std::remove_if(list.begin(), list.end(), [](const Fish& fish) { return fish.rare; }),
             list.end());
  return list;
}

/// By exploration.
class Net : public ::testing::TestWithParam<Fish> {};
/// By random schedules.
class RandomNet : public ::testing::TestWithParam<Fish> {};

TEST_P(Net, Catches) {
  if (slowed()) GTEST_SKIP() << "other builds tell whether mutants are caught";
  const Fish& fish = GetParam();
  for (const Program& program : allPrograms(fish.model)) {
    if (program.ranks > 2 && Sanitized) continue;
    const Exploration result = explore(scenarioOf(fish.subject, program));
    EXPECT_FALSE(result.truncated);
    if (result.violation.empty()) continue;
    std::printf("%s\nafter %lld states; schedule: %s\n", result.violation.c_str(),
                static_cast<long long>(result.states), result.schedule.c_str());
    EXPECT_EQ(replay(scenarioOf(fish.subject, program), result.schedule), result.violation);
    return;
  }
  if (Sanitized) GTEST_SKIP() << "needs more than two ranks, which takes long with sanitizers";
  FAIL() << fish.name << " was not found";
}

TEST_P(RandomNet, Catches) {
  if (slowed()) GTEST_SKIP() << "other builds tell whether mutants are caught";
  const Fish& fish = GetParam();
  RandomRuns runs;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const Program program = randomProgram(fish.model, seed, 6);
    if (runRandomly(scenarioOf(fish.subject, program), seed, runs).empty()) continue;
    std::printf("found by schedule %lld\n", static_cast<long long>(runs.runs));
    EXPECT_EQ(replay(scenarioOf(fish.subject, program), runs.schedule, seed % 2 == 1),
              runs.violation);
    return;
  }
  FAIL() << fish.name << " was not found";
}

INSTANTIATE_TEST_SUITE_P(Mutants, Net, ::testing::ValuesIn(fishes()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Mutants, RandomNet, ::testing::ValuesIn(commonFishes()),
                         [](const auto& info) { return std::string(info.param.name); });

// How particles were lost elsewhere: rank 0 sends eagerly and enters the barrier, rank 1 has not
// seen the message and enters too; both find that nobody was dirty.
TEST(Schedule, OfConsensusWithEagerSendsLosesAMessage) {
  Subject eager = mutant("consensus with eager sends", consensusDetector());
  eager.eagerOnly = true;
  const Program program = smallPrograms(WorkModel::AP)[1];
  EXPECT_EQ(program.name, "there and back");
  const std::string violation =
      replay(scenarioOf(eager, program), "r0 r0 r1 m- r0 c1 r1 m- c1 r0 c1");
  EXPECT_NE(violation.find("fired with 1 messages in flight"), std::string::npos) << violation;
}

// Bigger programs on up to 16 ranks, with slow ranks, long stalls, and late messages.
TEST(RandomSchedules, EveryDetectorIsRight) {
  const std::vector<Case> all = cases();
  const std::int64_t wanted = randomSchedules();
  RandomRuns total;
  int violations = 0;
  for (std::int64_t run = 0; run < wanted && violations < 5; ++run) {
    const auto seed = static_cast<std::uint64_t>(run) / all.size();
    const Case& c = all[static_cast<std::size_t>(run) % all.size()];
    const Program program = randomProgram(c.model, seed, MostRanks);
    RandomRuns one;
    runRandomly(scenarioOf(c.subject, program), seed, one);
    total.runs += one.runs;
    total.steps += one.steps;
    if (one.violation.empty()) continue;
    ++violations;
    ADD_FAILURE() << "seed " << seed << ": " << one.violation << "\nschedule: " << one.schedule;
  }
  std::printf("%lld random schedules, %lld turns\n", static_cast<long long>(total.runs),
              static_cast<long long>(total.steps));
}

}  // namespace
}  // namespace tributary::schedules
