// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Tributary/Termination/Detector.h"

namespace tributary::detail {

/// Double counting: F. Mattern, "Algorithms for distributed termination detection", Distributed
/// Computing 2 (1987), section 4 (the four counter method), its waves as non-blocking all-reduces.
/// Work is sent eagerly.
///
/// Each rank counts the work messages that it sent and received. Once passive it gives both counts
/// to the current wave; when the wave completes, everyone knows their sums S and R, and the next
/// one begins. The detector fires after two waves in a row with the same sums and S = R.
///
/// Why it is right: a rank whose counts are the same in both waves received nothing in between, so
/// it was passive all the time, the moment t at which the first wave completed included. The sums
/// are the same only if all ranks' counts are, as counts never fall. So at t everyone was passive,
/// and S = R at one moment means that no message was in flight. Conversely, of the waves that begin
/// when all is quiet the second ends it, so three are completed at most, two if the counts in the
/// wave under way were already the last.
DetectorType fourCounterDetector();

}  // namespace tributary::detail
