// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace tributary::detail {

/// How a thread captures values that another one goes on to change.
enum class Captures {
  Locked,   ///< copied while a lock is held, as in the paper
  LockFree  ///< handed over whole, by one atomic exchange
};

/// Values that others compute with, and since when all of them are of: see HybridJudge::epoch().
struct DatedValues {
  std::vector<double> values;
  std::int64_t epoch = 0;
};

/// Values that one thread writes and one other reads: the newest that were published, never torn,
/// and neither waits for the other longer than a copy takes. Each of the two threads may be
/// replaced by another one that synchronizes with it.
///
/// There are three copies: one is the writer's, one the reader's, and one lies between them.
/// Without locks publishing exchanges the writer's with the one between, and taking exchanges that
/// with the reader's if it is fresh, so that nobody ever looks at a copy that somebody else has.
template <class T>
class LatestValue {
 public:
  LatestValue(Captures captures, const T& initial)
      : captures_(captures), copies_{initial, initial, initial} {}
  LatestValue(const LatestValue&) = delete;
  LatestValue& operator=(const LatestValue&) = delete;

  /// The writer's copy. Without locks it holds what was published earlier, no matter when.
  T& writing() { return copies_[writing_]; }
  void publish() {
    if (captures_ == Captures::Locked) {
      const std::lock_guard<std::mutex> guard(lock_);
      copies_[Between] = copies_[writing_];
      middle_.store(Between | Fresh, std::memory_order_relaxed);
      return;
    }
    writing_ = middle_.exchange(writing_ | Fresh, std::memory_order_acq_rel) & ~Fresh;
  }

  /// Makes the newest values the reader's. @return false if they are already
  bool take() {
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
