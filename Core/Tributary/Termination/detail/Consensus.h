// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Tributary/Termination/Detector.h"

namespace tributary::detail {

/// Nonmonotonic consensus: D. Morozov et al., "IExchange: Asynchronous Communication and
/// Termination Detection for Iterative Algorithms", section 3, Algorithm 5 and Figure 2.
///
/// The problem: all ranks must learn that nobody has work and no message is in flight, while local
/// work may grow as well as shrink, so that a rank which has said "I am done" may have to take it
/// back. Work is sent synchronously: a sender counts as busy until its message has begun to arrive.
///
/// States and edges of each rank:
///   Working   this rank has work. Once passive it starts a non-blocking barrier, notes itself
///             as clean             -> Entering
///   Entering  waits for the others. Any activity makes it dirty, for the rest of the wave. When
///             the barrier completes, all ranks have been passive at some moment; it starts a
///             non-blocking all-reduce (or) of the dirty flags   -> Agreeing
///   Agreeing  when the reduction completes: if no rank was dirty, the end is known and the
///             detector fires; if some was, a new wave           -> Working
/// (The paper prints the last test the other way round: the end is known if *not* all_dirty.)
///
/// Why it is right: let T be a moment after the last rank entered and before the first contributed
/// its flag. A clean rank did nothing between its own entering and its contribution, so at T it was
/// passive; what it sent before entering had begun to arrive, and its receiver, unless dirty, had
/// finished with it before entering itself. If all were clean, at T no rank had work and no message
/// was in flight; such a state cannot change any more. Conversely, once all are passive for good
/// the next wave is clean, so the detector fires at most two waves later.
DetectorType consensusDetector();

}  // namespace tributary::detail
