// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "Scenario.h"

namespace tributary::schedules {

/// Core/Balance's Lending of a toy's tokens, with production detectors. What must hold:
/// - no detector fires while a token has not ended or a message is in flight;
/// - copies take no more memory than allowed;
/// - an idle rank asks each neighbor at most once before it has work again;
/// - at the end each token has ended once, with the result that it has without lending, all remains
///   of copies have arrived, nothing is left in the network, no rank waits for an answer, and both
///   ranks of a pair agree on whether one asks the other;
/// - a fair run from the begin, and from each state in which a token ends, comes to the end.
/// @param large  those with too many states for the quick suite, too
std::vector<Scenario> lendingScenarios(bool large);

}  // namespace tributary::schedules
