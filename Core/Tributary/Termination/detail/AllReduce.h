// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Tributary/Termination/Detector.h"

namespace tributary::detail {

/// Consecutive all-reduces, in which all ranks take part at any time, as in bulk-synchronous
/// programs. For the AP model, and for comparison. Work is sent synchronously.
///
/// Each rank contributes to a non-blocking reduction (or) whether it was busy, and starts the next
/// reduction when this one is complete. A rank is busy if it was active or touched at any time
/// since its previous contribution, that moment included. In the first reduction of a detection all
/// ranks are busy. Termination is known if no rank was busy.
///
/// State of a rank: whether it was busy since its last contribution.
///
/// Correctness: let T be a moment after the last contribution to the previous reduction and before
/// the first contribution to the one in which no rank was busy. T exists, because no rank
/// contributes to a reduction before the previous one is complete. Every rank was passive during
/// the whole interval between its two contributions, and T is in that interval. So all its
/// synchronous sends were finished: their messages had begun to arrive, and the receivers, which
/// were passive, had received them. At T, all ranks were passive and no message was in flight.
/// Conversely, if all ranks stay passive, the first reduction that completes may have contributions
/// from before, the second reports earlier activity, and the third is clean.
[[nodiscard]] DetectorType allReduceDetector();

}  // namespace tributary::detail
