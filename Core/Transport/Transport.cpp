#include "Tributary/Transport/Transport.h"

#include <algorithm>

namespace tributary {

namespace {

// Measured with 2 to 8 ranks on 2 cores: a short spin keeps the latency of a partner that runs at
// this moment; turns of the scheduler let one that waits for this core run; naps keep ranks that
// have nothing to do for long from taking turns with those that work.
constexpr int SpinningPolls = 50;
constexpr int YieldingPolls = 200;
constexpr double FirstNap = 5e-6;
constexpr double LongestNap = 100e-6;

}  // namespace

void Patience::rest(Transport& transport) {
  ++empty_;
  if (empty_ <= SpinningPolls) return;
  if (empty_ <= SpinningPolls + YieldingPolls) {
    transport.relax(0);
    return;
  }
  const int doublings = std::min(empty_ - SpinningPolls - YieldingPolls, 10);
  transport.relax(std::min(FirstNap * (1 << doublings), LongestNap));
}

}  // namespace tributary
