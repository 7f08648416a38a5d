// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Tributary/Termination/Detector.h"

namespace tributary::detail {

/// Nonmonotonic consensus: D. Morozov, T. Peterka, H. Guo, M. Raj, J. Xu, H.-W. Shen, "IExchange:
/// Asynchronous Communication and Termination Detection for Iterative Algorithms", LDAV 2021,
/// doi:10.1109/LDAV53230.2021.00009, Section 3, Algorithm 5 and Figure 2.
///
/// The problem: all ranks must learn that no rank has work and no message is in flight. Local work
/// may grow as well as shrink, so a rank that has reported that it is done may have to revoke the
/// report. Work is sent synchronously: a sender is active until its message has begun to arrive.
///
/// States of a rank and transitions:
///
///   Working   this rank has work. Once passive, it starts a non-blocking barrier and marks itself
///             clean                                                                -> Entering
///   Entering  waits for the other ranks. Any activity makes the rank dirty for the rest of the
///             wave. When the barrier is complete, every rank has been passive at some moment. The
///             rank starts a non-blocking all-reduce (or) of the dirty flags        -> Agreeing
///   Agreeing  when the reduction is complete: if no rank was dirty, termination is known and the
///             detector reports it; otherwise a new wave begins                     -> Working
///
/// The paper prints the last test inverted: termination is known if *not* all_dirty.
///
/// Correctness: let T be a moment after the last rank entered and before the first contributed its
/// flag. A clean rank did nothing between entering and its contribution, so it was passive at T.
/// What it sent before entering had begun to arrive, and the receiver, unless dirty, had processed
/// it before entering itself. If all ranks were clean, then at T no rank had work and no message
/// was in flight, and such a state cannot change. Conversely, once all ranks stay passive, the next
/// wave is clean, so the detector reports termination at most two waves later.
[[nodiscard]] DetectorType consensusDetector();

}  // namespace tributary::detail
