#pragma once

#include <chrono>
#include <thread>

namespace tributary {

/// Seconds of the machine's monotonic clock.
inline double steadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Lets others have the core: a nap, or one turn of the scheduler if `seconds` is 0.
inline void leaveCore(double seconds) {
  if (seconds > 0) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  } else {
    std::this_thread::yield();
  }
}

}  // namespace tributary
