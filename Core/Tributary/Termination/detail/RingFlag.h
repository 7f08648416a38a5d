// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Tributary/Termination/Detector.h"

namespace tributary::detail {

/// Ring with flags and priorities for the AP model: E. Kocalar, A. Khokhar, S. E. Hambrusch,
/// "Termination Detection: Models and Algorithms for SPMD Computing Paradigms", IPPS/SPDP 1999,
/// section 2.
///
/// The lowest ranks (DetectorOptions::initiators) are initiators. A lower rank has a higher
/// priority. An initiator that is passive, and has seen no token of another initiator yet, sends
/// its own token around the ring. When the token has returned and the initiator is passive, it
/// decides, and otherwise sends the next one. A token sums sends and receipts as in RingAps. In
/// addition each rank has a flag, which sending or receiving work sets, and for a flag that is not
/// set the priority of the token that reset it (undefined while the flag is set, and at the
/// beginning). A visiting token becomes dirty if the rank is active, if the flag is set, or if the
/// recorded priority is lower than the token's. In the last two cases the flag is reset and the
/// priority of the token is recorded.
///
/// States of a rank: see RingDetector.h. An initiator retires from Idle if another's token visits,
/// and from Out and Home if a token of higher priority visits. In Out and Home it discards visiting
/// tokens of lower priority.
///
/// Correctness:
///
/// - One initiator wins. Let w be the initiator of highest priority that ever sends a token: no
///   rank discards its token or makes it retire. Its token never overtakes another, because the
///   order of messages between two ranks is preserved and all hops are between neighbors. When w's
///   token visits another initiator o, the token of o is ahead of it, reaches w first and is
///   discarded there or before, and o retires. So after its first pass w's token is the only one,
///   and no token is left when w announces termination along a tree. No other token can decide: to
///   return it must pass w, which is possible only before w has sent its own; but that makes w
///   retire.
/// - Termination is not reported too early. Consider the deciding pass, which stayed clean, and for
///   each rank the previous visit of w's token (for a rank whose recorded priority is still
///   undefined, the beginning). At its visit in the deciding pass the flag of the rank had been
///   reset by no token of lower priority and, because w has the highest, by none of higher
///   priority. So the rank neither sent nor received since the previous visit. All previous visits
///   precede all visits of the deciding pass. At a moment T between them the counts were those that
///   the token summed, so no message was in flight at T. From T until its visit each rank received
///   nothing and became passive, and no message was sent that could activate it.
/// - Setting the flag only for sends, as in the paper, is not sufficient. Let j send m1 to k before
///   the pass. Let k be visited while passive, then receive m1, become active and send m2 to i,
///   which receives it and is passive again before its visit. m1 counts only as sent, m2 only as
///   received: the sums agree, and k is still active. This happens with message delays as in MPI.
/// - Termination is reported after at most three passes. Once all ranks stay passive, the token in
///   flight may be dirty, the next one resets the flags, and the third is clean.
[[nodiscard]] DetectorType ringFlagDetector();

}  // namespace tributary::detail
