// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <ctime>
#include <thread>

namespace tributary {

/// The time of the machine's monotonic clock, in seconds.
[[nodiscard]] inline double steadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The processor time of the calling thread, in seconds.
[[nodiscard]] inline double coreSeconds() {
  std::timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Measures how long the calling thread has not run on a core since the object was constructed,
/// because it slept or because the core was taken by another thread or process. In a virtual
/// machine it includes time taken by other guests, if the hypervisor reports it.
class OffCore {
 public:
  /// Time without a core, in seconds. Overestimated by the cost of this call, about 1 microsecond.
  [[nodiscard]] double seconds() const {
    const double onCore = coreSeconds() - onCore_;
    return steadySeconds() - begin_ - onCore;
  }

 private:
  double begin_ = steadySeconds();
  double onCore_ = coreSeconds();
};

/// Releases the core of the calling thread for about `seconds`, or for one turn of the operating
/// system's scheduler if `seconds` is 0.
inline void leaveCore(double seconds) {
  if (seconds > 0) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  } else {
    std::this_thread::yield();
  }
}

}  // namespace tributary
