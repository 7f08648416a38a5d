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

/// How all ranks get to know that one of them aborts an exchange or failed in it, and in the end
/// the same reason. Any rank may stop at any time, all of them at once as well.
///
/// Spreading: a rank that stops, or hears of a stop for the first time, tells its neighbors in a
/// tree of the ranks; so each rank tells each of its neighbors once, however many stop.
///
/// Closing, once no rank works any more: Agreeing (an all-reduce finds the lowest rank with an
/// error and its kind, and the lowest that aborted) -> Telling (that rank's text comes down a tree
/// rooted there, and what the neighbors told is awaited) -> Closed. If nobody stopped, Agreeing ->
/// Closed.
class Stop {
 public:
  enum class Kind { None, Abort, Error };

  /// @param transport  outlives this, like `notices`
  Stop(Transport& transport, Notices& notices);

  /// This rank stops. The first call counts. Without effect once close() was called.
  void stop(Kind kind, const ErrorReport& why);
  /// Whether this rank knows of a stop, its own or another's.
  bool known() const { return known_; }
  /// A notice of the kinds Stop and Reason; or Unreadable, which may have been one of these, and
  /// counts as what is missing from its sender.
  void receive(const Notice& notice);

  /// Collective: no rank works any more.
  void close();
  /// After close(), when the transport was polled and notices were received. @return whether this
  /// rank knows the outcome
  bool closed();
  /// @pre closed()
  Kind outcome() const { return outcome_; }
  /// The error, or as its text why a rank aborted. Begins with the rank if it is another rank's
  /// error, of which the kind and the rank are known, but not the function of MPI. @pre closed()
  const ErrorReport& reason() const { return reason_; }

 private:
  enum class Phase { Spreading, Agreeing, Telling, Closed };

  void spread();
  void readOutcome();
  /// Whether the reason was on its way here and could not be read.
  bool reasonLost() const;
  void tell();

  Transport& transport_;
  Notices& notices_;
  RankTree tree_;
  Phase phase_ = Phase::Spreading;
  bool known_ = false;
  Kind own_ = Kind::None;
  ErrorReport ownReport_;
  std::vector<int> silent_;  // neighbors that have not told a stop
  PendingReduce agreement_;
  int teller_ = 0;                   // whose text is told
  std::vector<int> unreadable_;      // senders of what may have been it
  std::optional<std::string> text_;  // once it is here
  Kind outcome_ = Kind::None;
  ErrorReport reason_;
};

}  // namespace tributary::detail
