// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Tributary/Termination/Detector.h"

namespace tributary::detail {

/// The vector of message counters (F. Mattern, "Algorithms for distributed termination detection",
/// Distributed Computing 2 (1987), section 6: the vector counter method; the array of Algorithm
/// Tree_CNTR in TreeCounter.h), reduced to a few bits: its projection on random directions, summed
/// along a tree in waves. Work is sent eagerly, and a single wave decides.
///
/// Let the counter V[k] be the number of messages sent to rank k minus the number received by k.
/// Each rank knows its share of V. Instead of P numbers it stores sum_k c[k] V[k] modulo a prime p,
/// for two sequences of pseudo-random coefficients c: a message sent to k adds c[k], and a received
/// message subtracts the receiver's coefficient. A wave moves up a tree of ranks: a rank that is
/// passive and has the contributions of its children adds its own two sums and sends the result to
/// its parent. If both totals are zero, the root announces termination along the tree. Otherwise a
/// new wave begins, to which all ranks contribute again.
///
/// Why V = 0 implies termination, although ranks contribute at different moments, each while
/// passive: let t[i] be the moment of rank i. Call a message E if it was sent before the sender's
/// moment and not received before the receiver's, and U in the opposite case. V[k] is the number of
/// E messages minus the number of U messages to k. Assume that there are E or U messages, and among
/// their receivers let k be the rank with the earliest t[k]. If there was a U message to k, its
/// sender j was active after t[j] and before t[k], activated by a message that arrived after t[j]:
/// either an E message (then t[j] < t[k], which contradicts the choice of k), or one that was sent
/// after its sender's moment by a rank that was itself activated before t[k], and so on back to an
/// E message. So k has only E messages, and V[k] > 0. Hence V = 0 implies that there are neither E
/// nor U messages. Then no rank was activated after its moment, all ranks are passive, and all
/// messages have been received.
///
/// Error probability of the projection: for a given V other than 0, a total is zero for one in p
/// choices of coefficients (p = 2^42 - 11), and both totals are zero for one in p^2, about 2^84:
/// less likely than an undetected memory error in a counter. The coefficients are a function of the
/// session, so runs are repeatable.
///
/// Passes: a wave that is in progress when all ranks become passive fails if a rank was activated
/// after its contribution, and the next wave succeeds. So one wave is needed at best, and two at
/// most.
[[nodiscard]] DetectorType hashCounterDetector();

}  // namespace tributary::detail
