// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Tributary/Termination/Detector.h"

namespace tributary::detail {

/// Ring with flags and priorities for the AP model: E. Kocalar, A. Khokhar, S. E. Hambrusch,
/// "Termination Detection: Models and Algorithms for SPMD Computing Paradigms", 1999, section 2.
///
/// The lowest ranks (DetectorOptions::initiators) are initiators; a lower rank has the higher
/// priority. An initiator that is passive, and has seen no other's token yet, sends one of its own
/// round the ring; when that is back and this rank is passive, it judges it and sends the next. A
/// token counts sends and receipts as in RingAps. In addition each rank has a flag, set by sending
/// or receiving work, and for a flag that is not set the priority of the token that reset it
/// (undefined while the flag is set, and at the beginning). A visiting token is made dirty if the
/// rank is not passive, if the flag is set, or if the recorded priority is lower than the token's;
/// in the last two cases the flag is reset and the token's priority recorded.
///
/// Initiators' states: Idle (sent none, saw none) -> Out (on its way) <-> Home (back, waits for
/// this rank to be passive); Retired (sends none in this detection) from Idle by the visit of
/// another's token, from Out and Home by that of one of higher priority. Out and Home kill visiting
/// tokens of lower priority.
///
/// Why it is right:
/// - One initiator wins. Let w be the highest that ever sends a token: nobody kills its token or
///   retires it. That token overtakes none (order is kept per pair and all hops are between
///   neighbors): whatever another initiator o has out when w's token visits it is ahead, reaches w
///   first and is killed there or before, and o retires. So after its first pass w's token is
///   alone, and nothing is left behind when w announces the end, down a tree. No other token can
///   decide: to come back it must pass w, and does so only before w has sent its own; but that
///   retires w.
/// - No end too early. Take the deciding pass, which stayed clean, and for each rank the visit of
///   w's token before (for a rank whose recorded priority is still undefined, the beginning). At
///   its visit in the deciding pass the rank's flag was reset by nobody lower and, as w is the
///   highest, by nobody higher: so it neither sent nor received since the visit before. All visits
///   before precede all visits of the deciding pass; at a moment T between them the counts were
///   those that the token added up, so that at T no message was in flight. Until its visit each
///   rank received none and became passive, and none was sent that could make it active again.
/// - It is not enough to set the flag by sending, as the paper has it: let j send m1 to k before
/// the
///   pass, k be visited passive, then receive m1, become active and send m2 to i, which receives it
///   and is passive again before its visit. m1 counts as sent only, m2 as received only: the sums
///   agree, and k is still active. With delays such as MPI's that happens.
/// - An end in three passes: once all is quiet, the token on its way may be dirty, the next resets
///   the flags, and the third is clean.
DetectorType ringFlagDetector();

}  // namespace tributary::detail
