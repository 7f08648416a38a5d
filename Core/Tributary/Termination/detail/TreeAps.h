// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Tributary/Termination/Detector.h"

namespace tributary::detail {

/// Tree for the APS model: E. Kocalar, A. Khokhar, S. E. Hambrusch, "Termination Detection: Models
/// and Algorithms for SPMD Computing Paradigms", 1999, section 3, Algorithm Tree_APS.
///
/// Ranks report up a tree what they sent and received: first along all its levels, later directly
/// to its control level (DetectorOptions::arity, controlLevel; TreeReports.h has the states). The
/// numbers matter by their difference only, so that a report is one integer.
///
/// Why it is right: when the root is complete, every rank has been passive, and in the APS model
/// sends no work any more, so the root knows all sends. If it knows of as many receipts, every
/// message was received, and the receiver passive afterwards, as only passive ranks report. No
/// report is left: it would tell of a receipt beyond them. Conversely, once all is quiet all
/// changes are on their way to the root.
///
/// Messages: P - 1 first reports, P - 1 announcements of the end, and for each time that a rank has
/// served requests at most 1 + controlLevel.
DetectorType treeApsDetector();

}  // namespace tributary::detail
