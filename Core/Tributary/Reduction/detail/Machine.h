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

/// Base class of all reductions over blocks: rounds, messages, turns, and errors.
///
/// If an operator of the user throws on a rank, it is not called there again. Messages are still
/// sent and received, so all ranks reach the end, and error() returns the text. The result of the
/// reduction is invalid then.
///
/// If anything else fails on a rank, such as a malformed message, the rank gives up. The number of
/// messages between ranks is known in advance: the rank sends the messages that it still owes,
/// marked as failed, discards those that it receives, and so reaches the end like the other ranks.
class ReductionMachine {
 public:
  virtual ~ReductionMachine() = default;
  ReductionMachine(const ReductionMachine&) = delete;
  ReductionMachine& operator=(const ReductionMachine&) = delete;

  /// Performs the collective part of the next start() in advance. For a reduction that starts when
  /// another one has ended, which is not at the same time on all ranks. Stays in effect if start()
  /// throws. Collective, without communication.
  void open();
  /// Performs one non-blocking turn. Throws only if the transport fails. @return ended()
  [[nodiscard]] bool advance();
  /// Advances until this rank has ended. Does not agree on errors.
  void wait();
  /// Whether the last turn made progress or messages are in flight: the caller should not sleep.
  [[nodiscard]] bool busy() const { return moved_ || (post_ && post_->transferring()); }
  /// Whether this rank has ended. Other ranks may not have.
  [[nodiscard]] bool ended() const { return ended_; }
  /// The first error on this rank since start(), or "". For agreeOnError().
  [[nodiscard]] const std::string& error() const { return error_; }
  /// The rounds of the reduction.
  const Rounds& rounds() const { return rounds_; }
  /// The error if this rank passed this number of items, or "".
  [[nodiscard]] std::string itemsError(std::size_t items) const;

 protected:
  /// Collective. Throws Error on all ranks if arguments are invalid or differ between ranks.
  /// @param transport  must outlive the reduction
  /// @param kValues  the number of groups that meet in each round
  /// @param same  further numbers that must be equal on all ranks
  /// @param errors  of this rank: if a rank has one, all ranks throw it
  ReductionMachine(Transport& transport, const Assignment& assignment, KValues kValues,
                   const std::vector<std::int64_t>& same = {}, const ErrorCollector& errors = {});

  /// Starts a new run with a number of items on this rank. Throws Error on this rank unless there
  /// is one item for each local block, if `wrong` is not "", or if the previous run has not ended.
  /// Sessions stay in step with those of other ranks in any case.
  /// @param parts  the number of parts of this rank's work: see partDone()
  void begin(std::size_t items, std::int64_t parts, const std::string& wrong = {});
  /// Performs a part of the run. Gives up if it throws. @return the result of the part
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
  /// Advances to the end, then agrees on errors. Collective.
  void finish();

  /// Receives all available messages, and calls work() as long as it makes progress.
  /// @return whether there was progress
  [[nodiscard]] virtual bool turn();
  /// Processes a message for a block of this rank. Throws Error if it is malformed.
  virtual void accept(BlockMessage&& message) = 0;
  /// Performs work that messages made possible. @return whether there was any
  virtual bool work() { return false; }
  /// Sends the messages that this rank's blocks still owe blocks of other ranks, marked as failed.
  virtual void giveUp() = 0;
  /// The number of messages that this rank receives from others in a run.
  virtual std::int64_t expectedFromOthers() const = 0;

  bool gaveUp() const { return gaveUp_; }
  /// Called when a part of this rank's work is done, except for sends in progress.
  void partDone() { --parts_; }
  /// Whether parts of this rank's work are not done.
  bool partsLeft() const { return parts_ > 0; }

  /// For giveUp(), if a block sends a message to each block that needs a part of its interval in
  /// each round: sends the messages of all rounds from `roundsSent` on, marked as failed.
  /// @param blocks  local blocks with members `id` and `roundsSent`
  template <class Blocks>
  void sendFailed(const Blocks& blocks, std::int64_t length) {
    for (const auto& block : blocks) sendFailed(block.id, block.roundsSent, length);
  }
  /// For expectedFromOthers() in the same case.
  template <class Blocks>
  std::int64_t comingFromOthers(const Blocks& blocks, std::int64_t length) const {
    std::int64_t messages = 0;
    for (const auto& block : blocks) messages += comingFromOthers(block.id, length);
    return messages;
  }

  /// Notes an error, if it is the first. Thread-safe.
  void fail(const std::string& text);
  /// Called if another rank has failed: the result is invalid.
  void skip() { failed_ = true; }
  bool failed() const { return failed_; }
  /// Calls an operator of the user and notes an exception, unless there is an error already.
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
  void sendFailed(BlockId block, int firstRound, std::int64_t length);
  std::int64_t comingFromOthers(BlockId block, std::int64_t length) const;

  Transport& transport_;
  Assignment assignment_;
  Rounds rounds_;
  std::optional<BlockPost> post_;
  std::int64_t parts_ = 0;
  bool ended_ = true;
  bool opened_ = false;
  bool moved_ = false;
  bool gaveUp_ = false;
  std::mutex mutex_;  // of error_
  std::string error_;
  std::atomic<bool> failed_{false};
};

/// Advances a reduction, or a combination of several, to its end on this rank.
template <class Machine>
void advanceToEnd(Transport& transport, Machine& machine) {
  Backoff backoff;
  while (!machine.advance()) {
    if (machine.busy()) {
      // A large message makes progress only while both ranks poll.
      backoff.reset();
      transport.relax(0);
    } else {
      backoff.pause(transport);
    }
  }
}

}  // namespace tributary::detail
