// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "Tributary/Collective/Agree.h"
#include "Tributary/Exchange/Exchange.h"
#include "Tributary/Exchange/detail/Queues.h"
#include "Tributary/Termination/Detector.h"

namespace tributary::detail {

/// What a schedule works with; everything outlives it.
struct ScheduleInputs {
  Transport& transport;
  Session session;
  const Assignment& assignment;
  const std::vector<std::vector<BlockId>>& links;
  const ExchangeOptions& options;
  const Step& step;
  ExchangeStatistics& statistics;
  /// Told when a callback throws or a message is malformed; it may call ScheduleMachine::stop().
  std::function<void(const ErrorReport&)> fail;
};

/// A non-blocking state machine that calls blocks and moves messages until the end is known. This
/// base knows which blocks are to be called; the schedules decide when, and when messages are seen.
///
/// A block is to be called at the beginning, when its last call returned true, when a message came,
/// and when its last call took some of its messages and left others. One that leaves messages and
/// takes none is not called again before a new one comes, and is not done either.
class ScheduleMachine {
 public:
  /// @param detector  null for a schedule that finds the end by itself; it sends synchronously
  ScheduleMachine(const ScheduleInputs& inputs, std::unique_ptr<Detector> detector);
  virtual ~ScheduleMachine() = default;

  /// One turn. @return true once the end is known on this rank.
  bool advance();

  /// Calls no block any more and drops all messages; advance() still leads to the common end.
  void stop();
  /// Whether a rank that has stopped may leave without the others' knowledge: nothing collective is
  /// under way.
  bool mayLeave() const { return detector_ != nullptr && !detector_->collective(); }

  /// Changes whenever something moved: a message, or a block that was called.
  std::int64_t progress() const { return progress_ + queues_.traffic(); }
  /// Whether the last turn did anything.
  bool busy() const { return busy_; }
  /// The end of the last turn, by the transport's clock.
  double clock() const { return clock_; }
  /// Who is not done and what is in flight, for people.
  std::string describe() const;

 protected:
  virtual bool turn() = 0;
  /// Whether the turn before this one did anything.
  bool wasBusy() const { return wasBusy_; }
  virtual bool onBatch(int source, const BatchFooter& footer) = 0;
  /// What the schedule waits for, for people.
  virtual std::string phase() const = 0;

  /// Takes in what has arrived and notes which blocks it wakes.
  void receive();
  /// Polls the transport and notices finished sends.
  void poll();
  /// Calls blocks for a while. `open`: of one list after the other, and each sees what has arrived
  /// until then; otherwise of the current list, and what startRound() showed.
  void callBlocks(bool open);
  /// The blocks to be called become the current list.
  void nextList();
  /// The same, and they see what has arrived.
  void startRound();
  bool listDone() const { return position_ == current_.size(); }
  bool ready() const { return !listDone() || !next_.empty(); }
  /// No block is to be called and none is stuck.
  bool blocksDone() const { return !ready() && stuck_ == 0; }

  Transport& transport_;
  const ScheduleInputs inputs_;
  std::unique_ptr<Detector> detector_;
  Queues queues_;
  bool stopped_ = false;
  bool busy_ = true;  // all blocks wait to be called

 private:
  struct BlockState {
    bool queued = true;  // in current_ or next_
    bool stuck = false;
  };

  void wakeBlocks();
  void call(std::int32_t index, bool open);
  template <class Action>
  void guarded(Action&& action);

  std::vector<BlockState> states_;
  std::vector<std::int32_t> current_;
  std::vector<std::int32_t> next_;
  std::size_t position_ = 0;  // in current_
  std::int64_t stuck_ = 0;
  std::int64_t progress_ = 0;
  double clock_;
  double turnComputing_ = 0;
  double passiveSince_;
  double callSeconds_ = 0;  // how long callBlocks() goes on
  bool lookedInVain_ = false;
  bool wasBusy_ = false;
  bool wasPassive_ = false;
  bool paused_ = false;
};

/// The detector that the options ask for. Collective.
std::unique_ptr<Detector> makeDetector(const ScheduleInputs& inputs);

std::unique_ptr<ScheduleMachine> makeSynchronous(const ScheduleInputs& inputs);
/// Collective: ranks tell each other who waits for whom.
std::unique_ptr<ScheduleMachine> makeNeighborhood(const ScheduleInputs& inputs);
std::unique_ptr<ScheduleMachine> makeAsynchronous(const ScheduleInputs& inputs);

}  // namespace tributary::detail
