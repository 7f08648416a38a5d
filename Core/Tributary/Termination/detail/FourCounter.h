// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Tributary/Termination/Detector.h"

namespace tributary::detail {

/// Double counting: F. Mattern, "Algorithms for distributed termination detection", Distributed
/// Computing 2 (1987), section 4 (the four counter method), with non-blocking all-reduces as waves.
/// Work is sent eagerly.
///
/// Each rank counts the work messages that it has sent and received. Once passive, it contributes
/// both counts to the current wave. When the wave is complete, all ranks know the sums S and R, and
/// the next wave begins. The detector reports termination after two consecutive waves with equal
/// sums and S = R.
///
/// Correctness: a rank whose counts are equal in both waves received nothing between its
/// contributions, so it was passive during that time, which includes the moment t at which the
/// first wave completed. The sums are equal only if the counts of all ranks are, because counts
/// never decrease. So all ranks were passive at t, and S = R at one moment means that no message
/// was in flight. Conversely, of the waves that begin after all ranks stay passive the second one
/// reports termination. So at most three waves are completed, or two if the counts in the current
/// wave were final.
[[nodiscard]] DetectorType fourCounterDetector();

}  // namespace tributary::detail
