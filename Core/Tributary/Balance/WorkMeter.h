// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

namespace tributary {

/// Estimates how long an item of work stays in a block on this rank, from those that have been
/// there: for WaitingWork::seconds. Local.
class WorkMeter {
 public:
  WorkMeter() = default;
  /// @param expected  secondsPerItem() of earlier, similar work
  explicit WorkMeter(double expected) : expected_(expected) {}

  /// What another rank expects of an item; counts if nothing is known here.
  void expect(double seconds) {
    if (secondsPerItem() == 0) expected_ = seconds;
  }
  /// Items have begun to be processed.
  void begin(std::int64_t items) { begun_ += items; }
  /// Items have been finished, or have gone to another block.
  void end(std::int64_t items) { ended_ += items; }
  /// Items have been processed for some time.
  void spend(double seconds) { seconds_ += seconds; }

  /// The expected time of an item: the mean time of those that have ended. While fewer than half of
  /// those that have begun have ended, it is that of earlier work, if there was any, and at least
  /// twice what those that have begun have taken: they are expected to go on as long as they have
  /// gone on. 0 before anything is known.
  [[nodiscard]] double secondsPerItem() const {
    const auto begun = static_cast<double>(begun_), ended = static_cast<double>(ended_);
    if (ended > 0 && 2 * ended >= begun) return seconds_ / ended;
    return std::max(expected_, begun > 0 ? 2 * seconds_ / begun : 0);
  }

 private:
  double expected_ = 0;
  std::int64_t begun_ = 0, ended_ = 0;
  double seconds_ = 0;
};

}  // namespace tributary
