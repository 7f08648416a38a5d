// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Tributary/Termination/Detector.h"

namespace tributary::detail {

/// Tree with counters for the AP model: E. Kocalar, A. Khokhar, S. E. Hambrusch, "Termination
/// Detection: Models and Algorithms for SPMD Computing Paradigms", 1999, section 3, Algorithm
/// Tree_CNTR.
///
/// Like TreeAps, but a report has a counter for each rank j: the work messages sent to j less those
/// received by j (DetectorOptions::arity, controlLevel; TreeReports.h has the states).
///
/// Why it is right: let t(i) be the time of the last of rank i's reports that are in the root's
/// sums when it is complete and all are zero. It was passive then, and all its reports before are
/// in them too, as they reach the root in order. The rest is the argument of RingCounter.h: the
/// earliest receipt after its receiver's t(j) would be of a message that is counted as sent but not
/// as received, so there is none. No report is left, as nothing happened that one could tell.
/// Conversely, once all is quiet all changes are on their way to the root.
///
/// Messages: P - 1 first reports, P - 1 announcements of the end, and for each time that a rank
/// becomes passive again at most 1 + controlLevel; reports are of 8 P bytes.
DetectorType treeCounterDetector();

}  // namespace tributary::detail
