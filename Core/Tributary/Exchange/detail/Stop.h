// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "Tributary/Collective/Agree.h"
#include "Tributary/Exchange/detail/Notices.h"
#include "Tributary/Termination/RankTree.h"
#include "Tributary/Transport/Transport.h"

namespace tributary::detail {

/// Informs all ranks that a rank has aborted an exchange or has failed, and makes them agree on the
/// reason. Any number of ranks may stop at any time.
///
/// Spreading: a rank that stops, or that receives its first stop notice, notifies its neighbors in
/// a tree of the ranks. So a rank notifies each neighbor once, however many ranks stop.
///
/// Closing, after the work of all ranks: Agreeing (an all-reduce finds the lowest rank with an
/// error and its kind, and the lowest rank that aborted) -> Telling (the text of that rank is
/// broadcast down a tree rooted at it, and the notices of all neighbors are received) -> Closed. If
/// no rank stopped: Agreeing -> Closed.
class Stop {
 public:
  enum class Kind { None, Abort, Error };

  /// @param transport  must outlive this object, like `notices`
  Stop(Transport& transport, Notices& notices);

  /// Stops on this rank. Only the first call has an effect, and none after close().
  void stop(Kind kind, const ErrorReport& why);
  /// Whether this rank knows of a stop on any rank.
  [[nodiscard]] bool known() const { return known_; }
  /// Processes a notice of the kinds Stop and Reason; or Unreadable, which counts as the notice
  /// that is still expected from its sender.
  void receive(const Notice& notice);

  /// Begins to close. Collective; called after the work of this rank.
  void close();
  /// Called repeatedly after close(), each time after polling the transport and receiving notices.
  /// @return whether this rank knows the outcome
  [[nodiscard]] bool closed();
  /// @pre closed()
  Kind outcome() const { return outcome_; }
  /// The error, or an abort's reason as its text. The text of another rank's error begins with the
  /// rank; its kind and rank are known, but not its MPI function. @pre closed()
  const ErrorReport& reason() const { return reason_; }

 private:
  enum class Phase { Spreading, Agreeing, Telling, Closed };

  void spread();
  void readOutcome();
  /// Whether the notice with the reason was unreadable.
  bool reasonLost() const;
  void tell();

  Transport& transport_;
  Notices& notices_;
  RankTree tree_;
  Phase phase_ = Phase::Spreading;
  bool known_ = false;
  Kind own_ = Kind::None;
  ErrorReport ownReport_;
  std::vector<int> silent_;  // neighbors whose stop notice is not received
  PendingReduce agreement_;
  int teller_ = 0;                   // the rank whose text is broadcast
  std::vector<int> unreadable_;      // senders of unreadable notices
  std::optional<std::string> text_;  // once it is known
  Kind outcome_ = Kind::None;
  ErrorReport reason_;
};

}  // namespace tributary::detail
