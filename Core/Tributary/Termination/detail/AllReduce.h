// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Tributary/Termination/Detector.h"

namespace tributary::detail {

/// One all-reduce after the other, whoever is active: the way of bulk-synchronous programs, for the
/// AP model and for comparison. Work is sent synchronously.
///
/// Every rank contributes to a non-blocking reduction (or) whether it was busy, and starts the next
/// when that is complete. Busy is one that was not passive, or touched, at any moment since it
/// contributed to the reduction before, that moment included; in the first of a detection all are.
/// The end is known when nobody was busy.
///
/// State of a rank: whether it was busy since its last contribution.
///
/// Why it is right: let T be a moment after the last contribution to the reduction before, and
/// before the first to the one in which nobody was busy; there is one, as nobody contributes to a
/// reduction before the one before is complete. T lies in every rank's interval between its two
/// contributions, in which it was passive throughout: all its synchronous sends were finished, that
/// is had begun to arrive, and their receivers, passive too, had received them. So at T nobody was
/// active and nothing was in flight. Conversely, of the reductions that complete after all is quiet
/// the first may have been contributed to before, the second tells of touches before, the third is
/// clean.
DetectorType allReduceDetector();

}  // namespace tributary::detail
