// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "Tributary/Transport/Transport.h"

namespace tributary::detail {

/// A control message of an exchange, independent of the schedule and the detector.
struct Notice {
  enum class Kind : std::int32_t {
    Stop,     ///< a rank has aborted or failed: see Stop
    Reason,   ///< the reason of a stop: see Stop
    Stalled,  ///< the sender makes no progress, with a report: see StallWatch
    Moving,   ///< the sender makes progress again
    /// Never sent: stands for a notice that is malformed or for which memory was lacking. The text
    /// says which.
    Unreadable
  };
  int source = 0;
  Kind kind = Kind::Stop;
  std::string text;
};

/// The notices of one session. Local.
class Notices {
 public:
  /// @param transport  must outlive this object
  Notices(Transport& transport, Session session) : transport_(transport), session_(session) {}

  /// Sends a notice eagerly.
  void send(int destination, Notice::Kind kind, const std::string& text = {});
  /// The next notice that has arrived.
  [[nodiscard]] std::optional<Notice> receive();

 private:
  Transport& transport_;
  Session session_;
};

}  // namespace tributary::detail
