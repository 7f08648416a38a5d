// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Tributary/Termination/Detector.h"

namespace tributary::detail {

/// Tree for the APS model: E. Kocalar, A. Khokhar, S. E. Hambrusch, "Termination Detection: Models
/// and Algorithms for SPMD Computing Paradigms", IPPS/SPDP 1999, section 3, Algorithm Tree_APS.
///
/// Ranks report their numbers of sends and receipts up a tree: first along all its levels, later
/// directly to its control level (DetectorOptions::arity, controlLevel; states: see TreeReports.h).
/// Only the difference of the numbers matters, so a report is one integer.
///
/// Correctness: when the root is complete, every rank has been passive, and in the APS model sends
/// no more work, so the root knows all sends. If it knows an equal number of receipts, every
/// message was received, and the receiver was passive afterwards, because only passive ranks
/// report. No report is in flight: it would report additional receipts. Conversely, once all ranks
/// stay passive, all changes are in flight to the root.
///
/// Messages: P - 1 first reports, P - 1 announcements of termination, and at most 1 + controlLevel
/// each time a rank has served requests.
[[nodiscard]] DetectorType treeApsDetector();

}  // namespace tributary::detail
