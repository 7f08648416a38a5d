// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "Tributary/Model/HybridOptions.h"

namespace tributary::detail {

/// Values that other threads or ranks compute with, and the epoch of the oldest (see HybridJudge).
struct DatedValues {
  std::vector<double> values;
  std::int64_t epoch = 0;
};

/// A triple buffer: passes the latest value from one writing thread to one reading thread. A value
/// is never torn. No thread waits for the other for longer than a copy takes. Either thread may be
/// replaced by another one that synchronizes with it.
///
/// One copy belongs to the writer, one to the reader, and one lies between them. Without locks,
/// publish() exchanges the writer's copy with the middle one, and take() exchanges the middle one,
/// if it is fresh, with the reader's. So no copy is accessed by two threads.
template <class T>
class LatestValue {
 public:
  LatestValue(Captures captures, const T& initial)
      : captures_(captures), copies_{initial, initial, initial} {}
  LatestValue(const LatestValue&) = delete;
  LatestValue& operator=(const LatestValue&) = delete;

  /// The writer's copy. Without locks it holds an older published value.
  T& writing() { return copies_[writing_]; }
  /// Makes the writer's copy the latest value.
  void publish() {
    if (captures_ == Captures::Locked) {
      const std::lock_guard<std::mutex> guard(lock_);
      copies_[Between] = copies_[writing_];
      middle_.store(Between | Fresh, std::memory_order_relaxed);
      return;
    }
    writing_ = middle_.exchange(writing_ | Fresh, std::memory_order_acq_rel) & ~Fresh;
  }

  /// Makes the latest value the reader's copy. @return false if it already was
  [[nodiscard]] bool take() {
    if ((middle_.load(std::memory_order_relaxed) & Fresh) == 0) return false;
    if (captures_ == Captures::Locked) {
      const std::lock_guard<std::mutex> guard(lock_);
      copies_[reading_] = copies_[Between];
      middle_.store(Between, std::memory_order_relaxed);
      return true;
    }
    reading_ = middle_.exchange(reading_, std::memory_order_acq_rel) & ~Fresh;
    return true;
  }
  /// The reader's copy.
  const T& reading() const { return copies_[reading_]; }

 private:
  static constexpr unsigned Between = 1;
  static constexpr unsigned Fresh = 4;

  Captures captures_;
  T copies_[3];
  unsigned writing_ = 0;
  unsigned reading_ = 2;
  std::atomic<unsigned> middle_{Between};  // which copy lies between, and whether it is fresh
  std::mutex lock_;
};

}  // namespace tributary::detail
