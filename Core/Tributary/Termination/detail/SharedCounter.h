// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Tributary/Termination/Detector.h"

namespace tributary::detail {

/// One counter of all work, in one rank's memory, for the AP model and for comparison: D. Morozov
/// et al., "IExchange: Asynchronous Communication and Termination Detection for Iterative
/// Algorithms", section 2, which found that it does not scale.
///
/// The counter (Transport::shareInteger) begins with 1 for each rank. A rank adds 1 for each work
/// message before it sends it. Whenever it is passive it takes away 1 for each message received,
/// and the first time the 1 that it began with. Who takes it to zero puts 1 for each rank back, for
/// the next detection, and then announces the end, down a tree rooted there.
///
/// State of a rank: what it has to take away.
///
/// Why it is right: a message is in the counter from before it leaves until its receiver is passive
/// after receiving it, and a rank that begins active until it is passive. So zero means that nobody
/// is active and nothing in flight, and nobody is left to add.
///
/// Its cost is in the additions: each waits for an answer from the counter's rank, at every send
/// too. Collective to destroy, as the counter is.
DetectorType sharedCounterDetector();

}  // namespace tributary::detail
