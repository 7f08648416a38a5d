// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "Scenario.h"

namespace tributary::schedules {

/// The state machines of Core/Iteration on small graphs, each alone and the detectors whole, with
/// small integers as iterates. What must hold:
/// - a spanning tree spans, and all know their place in it;
/// - a reduction gives all ranks the value of its own round;
/// - in a snapshot the values of each neighbor are those of the iterate that it has recorded in
/// the
///   same round;
/// - the norm that a detector finds is that of the recorded iterate, computed here anew, in the
/// same
///   round on all ranks;
/// - asynchronous values never go back and are never torn, synchronous ones are those of their
/// turn,
///   no buffer that is under way is changed, and nothing is left behind;
/// - a notice is heard by all.
/// @param large  those with too many states for the quick suite, too
std::vector<Scenario> iterationScenarios(bool large);

}  // namespace tributary::schedules
