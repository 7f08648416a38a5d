// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Tributary/Termination/Detector.h"

namespace tributary::detail {

/// Ring with a token for the APS model: E. Kocalar, A. Khokhar, S. E. Hambrusch, "Termination
/// Detection: Models and Algorithms for SPMD Computing Paradigms", 1999, section 2.
///
/// Rank 0, once passive, sends a clean token from rank to rank. A rank that is not passive makes it
/// dirty; a passive one adds the numbers of its sends and of its receipts; a dirty token is passed
/// on as it is. Back on rank 0, as soon as that is passive, it is judged: clean, and with as many
/// sends as receipts, means the end, announced down a tree; otherwise a new token is sent.
///
/// States of rank 0: Idle (not passive yet), Out (the token is on its way), Home (it is back, and
/// waits for this rank to be passive). Other ranks have none but their two numbers.
///
/// Why it is right: in the APS model a rank that was passive once sends no work any more, so the
/// numbers of sends in a clean token are final. If as many receipts had happened, each before the
/// visit to its rank, then every message was received, and every rank was passive after its last
/// one: none can become active any more. In the AP model it can be wrong: see RingFlag.h.
/// Conversely, the first token that is sent after all is quiet comes back clean and equal; one may
/// be on its way before.
DetectorType ringApsDetector();

}  // namespace tributary::detail
