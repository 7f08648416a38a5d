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

/// The inputs of a schedule. All referenced objects must outlive it.
struct ScheduleInputs {
  Transport& transport;
  Session session;
  const Assignment& assignment;
  const std::vector<std::vector<BlockId>>& links;
  const ExchangeOptions& options;
  const Step& step;
  ExchangeStatistics& statistics;
  /// Called when a callback throws or a message is malformed; may call ScheduleMachine::stop().
  std::function<void(const ErrorReport&)> fail;
};

/// A non-blocking state machine that calls blocks and moves messages until the end is known. The
/// base class keeps the list of blocks to call. A schedule decides when they are called and when
/// messages become visible.
///
/// A block is listed at the beginning, when its last call returned true, when a message arrives,
/// and when its last call dequeued some messages but not all. A block whose call dequeued none of
/// its messages is stuck: it is not done, but it is not called before another message arrives.
class ScheduleMachine {
 public:
  /// @param detector  null for a schedule that detects the end itself and sends synchronously
  ScheduleMachine(const ScheduleInputs& inputs, std::unique_ptr<Detector> detector);
  virtual ~ScheduleMachine() = default;

  /// Makes one turn. @return true once the end is known on this rank
  [[nodiscard]] bool advance();

  /// Stops calls and drops all messages. advance() must still be called until the end.
  void stop();
  /// Whether a stopped rank may leave at once, because no collective operation can be in progress.
  bool mayLeave() const { return detector_ != nullptr && !detector_->collective(); }

  /// Changes with every message and every call.
  std::int64_t progress() const { return progress_ + queues_.traffic(); }
  /// Whether the last turn moved a message or made a call.
  bool busy() const { return busy_; }
  /// The time of the end of the last turn, on the clock of the transport.
  double clock() const { return clock_; }
  /// Describes blocks that are not done and messages in flight, for a stall report.
  std::string describe() const;

 protected:
  [[nodiscard]] virtual bool turn() = 0;
  /// Whether the previous turn moved a message or made a call.
  bool wasBusy() const { return wasBusy_; }
  [[nodiscard]] virtual bool onBatch(int source, const BatchFooter& footer) = 0;
  /// Describes what the schedule waits for, for a stall report.
  virtual std::string phase() const = 0;

  /// Receives batches and lists the blocks that they wake.
  void receive();
  /// Polls the transport and retires finished sends.
  void poll();
  /// Calls blocks for a limited time.
  /// @param open  whether to continue with the next lists, and to show each block all messages that
  ///              have arrived; otherwise only blocks of the current list are called, and they see
  ///              the messages that startRound() made visible
  void callBlocks(bool open);
  /// Makes the listed blocks the current list.
  void nextList();
  /// The same, and makes the messages visible that have arrived.
  void startRound();
  bool listDone() const { return position_ == current_.size(); }
  bool ready() const { return !listDone() || !next_.empty(); }
  /// Whether no block is listed and none is stuck.
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

  BlockId firstBlock() const { return inputs_.assignment.first(transport_.rank()); }
  void noteIdle(double begin, double end);
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

/// Makes the detector chosen in the options. Collective.
[[nodiscard]] std::unique_ptr<Detector> makeDetector(const ScheduleInputs& inputs);

[[nodiscard]] std::unique_ptr<ScheduleMachine> makeSynchronous(const ScheduleInputs& inputs);
/// Collective: each rank subscribes to the announcements of the ranks that it waits for.
[[nodiscard]] std::unique_ptr<ScheduleMachine> makeNeighborhood(const ScheduleInputs& inputs);
[[nodiscard]] std::unique_ptr<ScheduleMachine> makeAsynchronous(const ScheduleInputs& inputs);

}  // namespace tributary::detail
