// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

namespace tributary {

/// A value that is made when it is first needed, by the thread that needs it. Thread-safe.
template <class T>
class Lazy {
 public:
  /// The value.
  /// @param mutex  held while the value is made; the same in all calls
  /// @param make  returns the value as a unique pointer; called once, unless it throws
  template <class Make>
  const T& get(std::mutex& mutex, Make&& make) const {
    if (const T* ready = ready_.load(std::memory_order_acquire)) return *ready;
    const std::lock_guard<std::mutex> lock(mutex);
    if (!made_) made_ = make();
    ready_.store(made_.get(), std::memory_order_release);
    return *made_;
  }
  /// The value, or null if it has not been made.
  [[nodiscard]] const T* made() const { return ready_.load(std::memory_order_acquire); }

 private:
  mutable std::unique_ptr<const T> made_;
  mutable std::atomic<const T*> ready_{nullptr};
};

}  // namespace tributary
