// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <ctime>
#include <thread>

namespace tributary {

/// Seconds of the machine's monotonic clock.
inline double steadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds for which the calling thread has had a core.
inline double coreSeconds() {
  std::timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// For how long the calling thread has been without a core since this was made: asleep, or because
/// something else had it, a neighbor of a virtual machine included where the host tells.
class OffCore {
 public:
  /// Too many by what asking takes: about a microsecond.
  double seconds() const {
    const double onCore = coreSeconds() - onCore_;
    return steadySeconds() - begin_ - onCore;
  }

 private:
  double begin_ = steadySeconds();
  double onCore_ = coreSeconds();
};

/// Lets others have the core: a nap, or one turn of the scheduler if `seconds` is 0.
inline void leaveCore(double seconds) {
  if (seconds > 0) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  } else {
    std::this_thread::yield();
  }
}

}  // namespace tributary
