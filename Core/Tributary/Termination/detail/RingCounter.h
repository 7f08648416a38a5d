// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Tributary/Termination/Detector.h"

namespace tributary::detail {

/// Ring with a token of counters for the AP model: E. Kocalar, A. Khokhar, S. E. Hambrusch,
/// "Termination Detection: Models and Algorithms for SPMD Computing Paradigms", 1999, section 4
/// (its counters are those of TreeCounter.h).
///
/// One token goes round, sent by rank 0 once passive, with a counter for each rank j: the work
/// messages sent to j less those received by j, as far as it was told. A rank that is passive at
/// the token's visit adds what it counted since it last did, and starts from zero again. When the
/// token is back and rank 0 is passive, that adds its own; if all ranks have added at least once
/// and every counter is zero, it announces the end, down a tree; otherwise it sends the token on.
///
/// States of rank 0: Idle (not passive yet), Out (the token is on its way), Home (it is back, and
/// waits for this rank to be passive). Every rank has its counters, and whether it has added.
///
/// Why it is right: let t(i) be the time of the last visit at which rank i added, being passive,
/// and suppose that messages are received after that on some ranks; take the earliest such receipt,
/// of m by j. If the sender i had sent m after t(i), it would have become active after t(i), by an
/// earlier receipt of that kind: so m was sent before t(i), and is counted as sent to j. What j
/// received before t(j) was, for the same reason, sent before its senders' last visits, and is
/// counted as sent too. So j's counter is at least 1 for m: a contradiction. Hence no rank receives
/// anything after its last visit, all stay passive, and a message still in flight would be counted
/// as m was. In between a counter may be negative: a receipt can be added before its send. The
/// token that is sent after all is quiet collects what is missing; one pass may be under way
/// before.
DetectorType ringCounterDetector();

}  // namespace tributary::detail
