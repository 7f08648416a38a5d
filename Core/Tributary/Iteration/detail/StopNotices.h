// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "Tributary/Transport/Transport.h"

namespace tributary::detail {

/// Reasons to end the iteration without convergence; bits of a mask.
enum class StopReason : std::uint32_t {
  None = 0,
  Limit = 1,      ///< a rank has reached its limit of sweeps
  NotFinite = 2,  ///< a local measure is not a number
  Abort = 4,      ///< the iteration was aborted
  Error = 8       ///< a callback threw
};

/// Broadcasts reasons to stop to all ranks along a spanning tree. A rank that receives a reason for
/// the first time forwards it to its other neighbors in the tree. Thus each reason crosses a link
/// at most once in each direction.
///
///   Open --reason told or received: send it to the neighbors--> Open
///   Open --close(): send a last message to the neighbors--> Closing
///   Closing --last messages of all neighbors received--> Closed
///
/// Message order is preserved per pair of ranks, so no message of a neighbor is in flight after its
/// last message was received.
class StopNotices {
 public:
  /// Local.
  /// @param session    used by these notices only
  /// @param neighbors  in the tree
  StopNotices(Transport& transport, Session session, std::vector<int> neighbors);

  /// Broadcasts a reason of this rank. No effect if the reason is already known, or after close().
  void tell(StopReason reason, const std::string& text = {});
  /// Receives the notices that have arrived, and forwards them.
  void advance();
  /// Whether this rank knows of the reason.
  bool heard(StopReason reason) const { return (heard_ & static_cast<std::uint32_t>(reason)) != 0; }
  /// Whether this rank knows of any reason.
  bool any() const { return heard_ != 0; }
  /// The known reasons, as bits of StopReason.
  std::uint32_t reasons() const { return heard_; }
  /// The text of StopReason::Error, and the rank that reported it (-1: no error).
  const std::string& error() const { return error_; }
  int errorRank() const { return errorRank_; }

  /// Closes the notices without blocking. Call repeatedly until it returns true. Reasons that
  /// arrive after the first call are not forwarded.
  [[nodiscard]] bool close();

  std::int64_t messages() const { return messages_; }
  /// See Detector::state().
  std::string state() const;

 private:
  void spread(StopReason reason, int origin, const std::string& text, int except);

  Transport& transport_;
  Session session_;
  std::vector<int> neighbors_;
  std::uint32_t heard_ = 0;
  std::string error_;
  int errorRank_ = -1;
  bool closing_ = false;
  std::size_t lastWords_ = 0;
  std::int64_t messages_ = 0;
};

}  // namespace tributary::detail
