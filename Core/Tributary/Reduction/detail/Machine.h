// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "Tributary/Collective/Agree.h"
#include "Tributary/Reduction/Rounds.h"
#include "Tributary/Reduction/detail/BlockPost.h"

namespace tributary::detail {

/// What all reductions over blocks have in common: rounds, messages, turns, and errors.
///
/// A user's operator that throws, on whatever rank, is not called any more on that rank; the
/// messages flow on, so that all ranks come to the end, and error() tells. What came of the
/// reduction is worth nothing then.
///
/// A rank on which anything else goes wrong, such as a malformed message, gives up: who sends how
/// many messages to whom is known beforehand, so it sends those that it still owes as failed ones,
/// takes those that it is owed without a look at them, and so comes to the end like the others.
class ReductionMachine {
 public:
  virtual ~ReductionMachine() = default;
  ReductionMachine(const ReductionMachine&) = delete;
  ReductionMachine& operator=(const ReductionMachine&) = delete;

  /// Does what is collective of the next start() now: for a reduction that starts when another one
  /// has ended, which is not at the same time on all ranks. Without effect on a start() that threw.
  void open();
  /// One non-blocking turn. @return ended()
  bool advance();
  /// Turns until this rank has nothing more to do, without a look at the others' errors.
  void wait();
  /// Whether the last turn did anything or messages are under way: no time for a nap.
  bool busy() const { return moved_ || (post_ && post_->transferring()); }
  /// Whether this rank has nothing more to do; others may.
  bool ended() const { return ended_; }
  /// What went wrong on this rank since start(), or "". For agreeOnError(). advance() throws itself
  /// only if the transport fails.
  const std::string& error() const { return error_; }
  const Rounds& rounds() const { return rounds_; }
  /// What is wrong with so many items on this rank, or "".
  std::string itemsError(std::size_t items) const;

 protected:
  /// Collective: throws on all ranks if arguments are wrong or differ.
  /// @param same  further numbers that must be the same on all ranks
  ReductionMachine(Transport& transport, const Assignment& assignment, KValues kValues,
                   const std::vector<std::int64_t>& same = {});

  /// A new run, with so many items on this rank. Throws Error on this rank if that is not one for
  /// each block, if something else is `wrong`, or if the run before has not ended. Sessions are in
  /// step with those of the other ranks all the same.
  void begin(std::size_t items, const std::string& wrong = {});
  /// Does a part of the run; gives up if it throws. @return what the part returns
  template <class Part>
  bool attempt(Part&& part) {
    try {
      return part();
    } catch (...) {
      fail(currentExceptionText());
    }
    gaveUp_ = true;
    giveUp();
    return true;
  }
  /// Turns to the end, then agrees on errors. Collective.
  void finish();
  /// Takes in messages and works, as long as there is anything to do. @return whether there was
  virtual bool turn() = 0;
  /// Whether this rank's part is done, but for sends under way.
  virtual bool turnsEnded() const = 0;
  /// Sends the messages that this rank's blocks still owe those of other ranks, as failed ones.
  virtual void giveUp() = 0;
  bool gaveUp() const { return gaveUp_; }
  /// Messages that this rank gets from others in a run.
  virtual std::int64_t expectedFromOthers() const = 0;
  /// For giveUp() and expectedFromOthers() where a block sends a message to each that needs a part
  /// of its interval in each round: those of a block from a round on, as failed ones;
  void sendFailed(BlockId block, int firstRound, std::int64_t length);
  /// and how many come to a block from other ranks.
  std::int64_t comingFromOthers(BlockId block, std::int64_t length) const;

  /// Notes the first error; by any thread.
  void fail(const std::string& text);
  /// Another rank's error: what comes is worth nothing.
  void skip() { failed_ = true; }
  bool failed() const { return failed_; }
  /// Calls an operator or what else is the user's, unless one has failed.
  template <class Action>
  void guarded(Action&& action) {
    if (failed_) return;
    try {
      action();
    } catch (...) {
      fail(currentExceptionText());
    }
  }

  BlockPost& post() { return *post_; }
  const BlockPost& post() const { return *post_; }
  Transport& transport() const { return transport_; }
  const Assignment& assignment() const { return assignment_; }

 private:
  Transport& transport_;
  Assignment assignment_;
  Rounds rounds_;
  std::optional<BlockPost> post_;
  bool ended_ = true;
  bool opened_ = false;
  bool moved_ = false;
  bool gaveUp_ = false;
  std::mutex mutex_;  // of error_
  std::string error_;
  std::atomic<bool> failed_{false};
};

/// Advances a reduction, or what is made of several, to its end on this rank.
template <class Machine>
void advanceToEnd(Transport& transport, Machine& machine) {
  Backoff backoff;
  while (!machine.advance()) {
    if (machine.busy()) {
      // A large message moves only while both ranks look after it.
      backoff.reset();
      transport.relax(0);
    } else {
      backoff.pause(transport);
    }
  }
}

}  // namespace tributary::detail
