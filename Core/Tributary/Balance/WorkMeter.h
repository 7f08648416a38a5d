// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

namespace tributary {

/// Estimates how long an item of work stays in a block on this rank, from those that have been
/// there: for WaitingWork::seconds. Local.
class WorkMeter {
 public:
  /// Items have begun to be processed.
  void begin(std::int64_t items) { begun_ += items; }
  /// Items have been finished, or have gone to another block.
  void end(std::int64_t items) { ended_ += items; }
  /// Items have been processed for some time.
  void spend(double seconds) { seconds_ += seconds; }

  /// The expected time of an item: the mean time of those that have ended. While fewer than half of
  /// those that have begun have ended, the others are expected to take as long as they have taken
  /// already. 0 before anything is known.
  [[nodiscard]] double secondsPerItem() const {
    const double items = std::max(static_cast<double>(ended_), static_cast<double>(begun_) / 2);
    return items > 0 ? seconds_ / items : 0;
  }

 private:
  std::int64_t begun_ = 0, ended_ = 0;
  double seconds_ = 0;
};

}  // namespace tributary
