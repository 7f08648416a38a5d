// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "Tributary/Exchange/detail/Notices.h"
#include "Tributary/Transport/Transport.h"

namespace tributary::detail {

/// Detects that an exchange makes no progress on any rank. A rank without progress for a given time
/// reports to rank 0, and withdraws the report when it makes progress. Rank 0 fails once all ranks
/// have reported.
class StallWatch {
 public:
  /// @param transport  must outlive this object, like `notices`
  /// @param seconds    time without progress; 0 for no limit
  StallWatch(Transport& transport, Notices& notices, double seconds);

  /// Called after each turn. @return whether the time limit has passed; then call stalled()
  [[nodiscard]] bool look(double now, std::int64_t progress) {
    if (seconds_ <= 0) return false;
    // A rank that did not look for long was stopped: it has not waited, and messages have come.
    const double pause = now - std::exchange(lookedAt_, now);
    if (pause >= seconds_ / 2) progressAt_ = now;
    if (progress == progress_) return !stalled_ && now - progressAt_ >= seconds_;
    progress_ = progress;
    progressAt_ = now;
    moves();
    return false;
  }
  /// @param report  describes the state of this rank
  void stalled(const std::string& report) { tell(true, report); }
  /// Called before a call that may last long.
  void moves() {
    if (stalled_) tell(false, {});
  }
  /// Processes a notice of the kinds Stalled and Moving.
  void receive(const Notice& notice);
  /// On rank 0: the report if all ranks are stalled, or "".
  std::string report() const;

 private:
  struct State {
    bool stalled = false;
    std::string report;
  };

  void tell(bool stalled, const std::string& report);

  Transport& transport_;
  Notices& notices_;
  double seconds_;
  std::int64_t progress_ = 0;
  double progressAt_;
  double lookedAt_;
  bool stalled_ = false;
  std::vector<State> ranks_;  // on rank 0 only
};

}  // namespace tributary::detail
