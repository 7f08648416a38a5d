// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Tributary/Termination/Detector.h"

namespace tributary::detail {

/// One counter of all work in the memory of one rank, for the AP model and for comparison: D.
/// Morozov, T. Peterka, H. Guo, M. Raj, J. Xu, H.-W. Shen, "IExchange: Asynchronous Communication
/// and Termination Detection for Iterative Algorithms", LDAV 2021,
/// doi:10.1109/LDAV53230.2021.00009, Section 2. The paper found that it does not scale.
///
/// The counter (Transport::shareInteger()) starts with 1 for each rank. A rank adds 1 for each work
/// message before it sends it. Whenever it is passive, it subtracts 1 for each message received,
/// and the first time the initial 1. The rank that reduces the counter to zero adds 1 for each
/// rank, for the next detection, and then announces termination along a tree rooted at this rank.
///
/// State of a rank: the number that it has to subtract.
///
/// Correctness: a message is counted from before it is sent until its receiver is passive after
/// receiving it, and a rank is counted until it is passive for the first time. So zero means that
/// all ranks are passive and no message is in flight, and no rank can add any more.
///
/// The cost is in the additions: each waits for a reply from the counter's rank, for every send,
/// too. Destruction is collective, like that of the counter.
[[nodiscard]] DetectorType sharedCounterDetector();

}  // namespace tributary::detail
