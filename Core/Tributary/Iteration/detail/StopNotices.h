// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "Tributary/Transport/Transport.h"

namespace tributary::detail {

/// Why a rank wants the iteration to end although it may not have converged; bits of a mask.
enum class StopReason : std::uint32_t {
  None = 0,
  Limit = 1,      ///< it has made as many sweeps as it may
  NotFinite = 2,  ///< its local measure is not a number
  Abort = 4,
  Error = 8  ///< a callback threw
};

/// Tells all ranks of reasons to stop, along a spanning tree: who hears of a reason for the first
/// time passes it on to its other neighbors in the tree. So each reason travels each way along a
/// link once at most.
///
///   Open --told or heard of a reason: to the neighbors--> Open --close()--> Closing, says so
///   Closing --all neighbors have said so, too--> Closed
///
/// Order is kept per pair, so that after a neighbor's last word nothing of it is on its way.
class StopNotices {
 public:
  /// Local. @param session  for these notices alone  @param neighbors  in the tree
  StopNotices(Transport& transport, Session session, std::vector<int> neighbors);

  /// Of this rank. Without effect if the reason is known, or after close().
  void tell(StopReason reason, const std::string& text = {});
  /// Takes in what has come, and passes it on.
  void advance();
  bool heard(StopReason reason) const { return (heard_ & static_cast<std::uint32_t>(reason)) != 0; }
  /// Whether there is any reason.
  bool any() const { return heard_ != 0; }
  /// Bits of StopReason.
  std::uint32_t reasons() const { return heard_; }
  /// The text told with StopReason::Error, and by whom.
  const std::string& error() const { return error_; }
  int errorRank() const { return errorRank_; }

  /// Again and again until it returns true. Reasons that come later are not passed on any more.
  bool close();

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
