// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Tributary/Termination/Detector.h"

namespace tributary::detail {

/// Ring with a token of counters for the AP model: E. Kocalar, A. Khokhar, S. E. Hambrusch,
/// "Termination Detection: Models and Algorithms for SPMD Computing Paradigms", IPPS/SPDP 1999,
/// section 4 (with the counters of TreeCounter.h).
///
/// Rank 0, once passive, sends one token around the ring. The token has a counter for each rank j:
/// the number of work messages sent to j minus the number received by j, as far as reported. A rank
/// that is passive when the token visits adds its counts since its last addition, and resets them
/// to zero. When the token has returned and rank 0 is passive, rank 0 adds its counts. If all ranks
/// have added at least once and every counter is zero, rank 0 announces termination along a tree.
/// Otherwise it sends the token again.
///
/// States of a rank: see RingDetector.h; rank 0 is the initiator. Every rank has its counters, and
/// whether it has added.
///
/// Correctness: let t(i) be the time of the last visit at which rank i, being passive, added its
/// counts. Suppose that some ranks receive messages after these times, and consider the earliest
/// such receipt, of m by j. If the sender i had sent m after t(i), an earlier receipt of this kind
/// would have activated it after t(i). So m was sent before t(i), and is counted as sent to j. For
/// the same reason, all messages that j received before t(j) were sent before the last visits to
/// their senders, and are counted as sent, too. So the counter of j is at least 1, because of m: a
/// contradiction. Hence no rank receives a message after its last visit, all ranks stay passive,
/// and a message still in flight would be counted like m. A counter may be negative temporarily: a
/// receipt can be added before its send. The token that is sent after all ranks stay passive
/// collects the missing counts; one earlier pass may be in progress.
[[nodiscard]] DetectorType ringCounterDetector();

}  // namespace tributary::detail
