// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Tributary/Termination/Detector.h"

namespace tributary::detail {

/// Ring with a token for the APS model: E. Kocalar, A. Khokhar, S. E. Hambrusch, "Termination
/// Detection: Models and Algorithms for SPMD Computing Paradigms", IPPS/SPDP 1999, section 2.
///
/// Rank 0, once passive, sends a clean token around the ring. An active rank makes the token dirty.
/// A passive rank adds its numbers of sends and receipts. A dirty token is passed on unchanged.
/// When the token has returned to rank 0 and rank 0 is passive, rank 0 decides: if the token is
/// clean and has as many sends as receipts, it announces termination along a tree; otherwise it
/// sends a new token.
///
/// States of a rank: see RingDetector.h; rank 0 is the initiator. Other ranks only have their two
/// counts.
///
/// Correctness: in the APS model a rank that was passive once sends no more work, so the numbers of
/// sends in a clean token are final. If the number of receipts is equal, and each receipt happened
/// before the visit to its rank, then every message was received, and every rank was passive after
/// its last receipt: no rank can become active again. In the AP model the detector can be wrong:
/// see RingFlag.h. Conversely, the first token that is sent after all ranks stay passive returns
/// clean with equal numbers; one earlier token may be in flight.
[[nodiscard]] DetectorType ringApsDetector();

}  // namespace tributary::detail
