// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Tributary/Termination/Detector.h"

namespace tributary::detail {

/// Tree with counters for the AP model: E. Kocalar, A. Khokhar, S. E. Hambrusch, "Termination
/// Detection: Models and Algorithms for SPMD Computing Paradigms", IPPS/SPDP 1999, section 3,
/// Algorithm Tree_CNTR.
///
/// Like TreeAps, but a report has a counter for each rank j: the number of work messages sent to j
/// minus the number received by j (DetectorOptions::arity, controlLevel; states: see
/// TreeReports.h).
///
/// Correctness: let t(i) be the time of the last report of rank i that is included in the root's
/// sums when the root is complete and all sums are zero. The rank was passive then, and all its
/// earlier reports are included, too, because they reach the root in order. The rest is the
/// argument of RingCounter.h: the earliest receipt after its receiver's t(j) would be of a message
/// that is counted as sent but not as received, so there is none. No report is in flight, because
/// there is no change to report. Conversely, once all ranks stay passive, all changes are in flight
/// to the root.
///
/// Messages: P - 1 first reports, P - 1 announcements of termination, and at most 1 + controlLevel
/// each time a rank becomes passive again. A report has 8 P bytes.
[[nodiscard]] DetectorType treeCounterDetector();

}  // namespace tributary::detail
