// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "Run.h"
#include "Scenario.h"

namespace tributary::schedules {

struct ExplorationLimits {
  std::int64_t states = 2000000;
  bool halfReceived = false;  ///< messages may begin to arrive before they are received
};

/// What became of an exploration.
struct Exploration {
  std::int64_t states = 0;       ///< distinct ones
  std::int64_t transitions = 0;  ///< half turns of a rank with what they see, from state to state
  std::int64_t quietStates = 0;  ///< in which quiet began; from each a fair run was made
  std::int64_t endStates = 0;    ///< in which all detections have ended on all ranks
  bool truncated = false;        ///< the limit was hit: not all states were seen
  std::string violation;         ///< "" if none was found
  std::string schedule;          ///< leads to the violation: see replay()
};

/// All schedules of a small scenario, breadth first, so that a violation comes with a shortest
/// schedule. States that are the same (of ranks, detectors and network, apart from the detectors'
/// counters) are followed once. Nothing is copied: each transition begins with a replay of the
/// choices that lead to its state. Stops at the first violation.
Exploration explore(const Scenario& scenario, const ExplorationLimits& limits = {});

/// Runs one schedule (see makeScriptedAdversary()) and then fairly to the end.
/// @return the violation, "" if there is none
std::string replay(const Scenario& scenario, const std::string& schedule,
                   bool halfReceived = false);

/// What became of random schedules.
struct RandomRuns {
  std::int64_t runs = 0;
  std::int64_t steps = 0;
  std::string violation;  ///< the first, "" if none was found
  std::string schedule;
};

/// One random schedule for the seed. @return the violation
std::string runRandomly(const Scenario& scenario, std::uint64_t seed, RandomRuns& result);

}  // namespace tributary::schedules
