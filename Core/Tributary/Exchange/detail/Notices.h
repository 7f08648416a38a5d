// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "Tributary/Transport/Transport.h"

namespace tributary::detail {

/// What ranks of an exchange tell each other outside of the schedule and the detector.
struct Notice {
  enum class Kind : std::int32_t {
    Stop,     ///< a rank has aborted or failed: see Stop
    Reason,   ///< why: see Stop
    Stalled,  ///< nothing moves on the sender, with a report: see StallWatch
    Moving,   ///< something does again
    /// Not sent: one that is malformed or found no memory. The text says so.
    Unreadable
  };
  int source = 0;
  Kind kind = Kind::Stop;
  std::string text;
};

/// The notices of one session. Local.
class Notices {
 public:
  /// @param transport  outlives the notices
  Notices(Transport& transport, Session session) : transport_(transport), session_(session) {}

  void send(int destination, Notice::Kind kind, const std::string& text = {});
  /// The next one that has arrived.
  std::optional<Notice> receive();

 private:
  Transport& transport_;
  Session session_;
};

}  // namespace tributary::detail
