// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Tributary/Termination/Detector.h"

namespace tributary::detail {

/// Non-blocking consensus for monotone programs: T. Hoefler, C. Siebert, A. Lumsdaine, "Scalable
/// Communication Protocols for Dynamic Sparse Data Exchange", PPoPP 2010,
/// doi:10.1145/1693453.1693476 (NBX). Work is sent synchronously.
///
/// States of a rank: Working, until it is passive for the first time and starts a non-blocking
/// barrier; Waiting, until the barrier is complete and the rank is passive.
///
/// Correctness, in the Monotone model only: when the barrier is complete, every rank has been
/// passive and sends no more, and the messages that it had sent had begun to arrive by then. So the
/// only messages in flight to a rank are those that it has begun to receive; when it is passive, it
/// has processed them. Other ranks may still be active. A condition of require() must stay true
/// once it is true.
[[nodiscard]] DetectorType nbxDetector();

}  // namespace tributary::detail
