// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Tributary/Termination/Detector.h"

namespace tributary::detail {

/// Non-blocking consensus for monotone programs: T. Hoefler, C. Siebert, A. Lumsdaine, "Scalable
/// Communication Protocols for Dynamic Sparse Data Exchange", 2010 (NBX). Work is sent
/// synchronously.
///
/// States of a rank: Working, until it is passive for the first time and starts a non-blocking
/// barrier; Waiting, until that is complete and this rank is passive.
///
/// Why it is right, in the Monotone model only: when the barrier completes, every rank has been
/// passive and sends no more, and what it sent had begun to arrive when it was. So nothing is on
/// its way to this rank but what this rank has begun to receive; when it is passive it has dealt
/// with that. Others may still be at it. A condition set by require() must stay true where it was
/// true once.
DetectorType nbxDetector();

}  // namespace tributary::detail
