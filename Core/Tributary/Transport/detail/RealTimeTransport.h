// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Tributary/Transport/Clock.h"
#include "Tributary/Transport/Transport.h"

namespace tributary::detail {

/// A transport in which time passes by itself: the machine's clock and the operating system's
/// scheduler.
class RealTimeTransport : public Transport {
 public:
  double now() const override { return steadySeconds(); }
  void spend(double) override {}
  void relax(double seconds) override { leaveCore(seconds); }
};

}  // namespace tributary::detail
