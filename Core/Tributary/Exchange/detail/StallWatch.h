// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "Tributary/Exchange/detail/Notices.h"
#include "Tributary/Transport/Transport.h"

namespace tributary::detail {

/// Finds out that an exchange moves on no rank any more. A rank on which nothing has moved for a
/// while says so to rank 0, with a report, and takes it back when something moves; rank 0 gives up
/// once all ranks have said so.
class StallWatch {
 public:
  /// @param transport  outlives this, like `notices`
  /// @param seconds    without progress; 0: never
  StallWatch(Transport& transport, Notices& notices, double seconds);

  /// A turn has ended. @return whether nothing has moved for so long: say so with stalled()
  bool look(double now, std::int64_t progress) {
    if (seconds_ <= 0) return false;
    if (progress == progress_) return !stalled_ && now - progressAt_ >= seconds_;
    progress_ = progress;
    progressAt_ = now;
    moves();
    return false;
  }
  /// @param report  this rank's state, for people
  void stalled(const std::string& report) { tell(true, report); }
  /// A call begins that may last long.
  void moves() {
    if (stalled_) tell(false, {});
  }
  /// A notice of the kinds Stalled and Moving.
  void receive(const Notice& notice);
  /// On rank 0: what to report if all ranks are stalled, or "".
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
  bool stalled_ = false;
  std::vector<State> ranks_;  // on rank 0 only
};

}  // namespace tributary::detail
