// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Tributary/Termination/Detector.h"

namespace tributary::detail {

/// The vector of message counters (Mattern 1987, section 6: the vector counter method; the array of
/// Kocalar, Khokhar and Hambrusch's Tree_CNTR) as a few bits: its projection on random directions,
/// summed up a tree in waves. Work is sent eagerly, and one wave decides.
///
/// Let the counter V[k] be the number of messages sent to rank k less those that k received. A rank
/// knows its share of V. Instead of P numbers it keeps sum_k c[k] V[k] modulo a prime p, for two
/// sequences of pseudo-random coefficients c: a message to k adds c[k], one that is received
/// subtracts the receiver's own. A wave goes up a tree of ranks: one that is passive and has heard
/// its children adds its own two sums to theirs and tells its parent. If both totals are zero the
/// root announces the end down the tree, otherwise a new wave, for which all contribute again.
///
/// Why V = 0 means the end, though ranks contribute at different moments, each while passive: let
/// t[i] be rank i's. Call a message E if it was sent before its sender's moment and not received
/// before its receiver's, U the other way round. V[k] is the number of E less that of U messages to
/// k. Assume that there are some, and take among their receivers the rank k with the earliest t[k].
/// If a U message to k existed, its sender j was active after t[j] and before t[k], woken by a
/// message that came after t[j]: either an E message (then t[j] < t[k], against the choice of k) or
/// one sent after its sender's moment by a rank that was itself woken before t[k], and so on back
/// to an E message. So k has E messages only, and V[k] > 0. Hence V = 0 leaves no E and no U
/// messages; but then nobody can have been woken after its moment, all ranks are passive, and what
/// was sent has been received.
///
/// What a projection misses: for given V other than 0 the total is zero for one choice of
/// coefficients in p (2^42 - 11), for both totals in p^2, about 2^84: less than what undetected
/// memory errors do to a count. The coefficients are a function of the session, so a run can be
/// repeated.
///
/// A wave that is under way when all turns quiet fails if a rank was woken after it had
/// contributed; the next succeeds: one wave at best, two at most.
DetectorType hashCounterDetector();

}  // namespace tributary::detail
