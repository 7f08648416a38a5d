// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Exchange/detail/ScheduleMachine.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "Tributary/Collective/Agree.h"

namespace tributary::detail {

namespace {

// The time for calls between two receives, as a multiple of the duration of a receive that found no
// message. Receives are frequent where they are cheap, and rare where each one costs a time slice
// of the operating system, as with more ranks than cores.
constexpr double CallsPerLook = 10;
constexpr double ShortestCalls = 2e-6;
constexpr double LongestCalls = 50e-6;
// A simulated clock may not advance during calls.
constexpr int MostListsPerLook = 16;

}  // namespace

std::unique_ptr<Detector> makeDetector(const ScheduleInputs& inputs) {
  return makeDetector(inputs.options.detector, inputs.transport, inputs.session,
                      inputs.options.detection);
}

ScheduleMachine::ScheduleMachine(const ScheduleInputs& inputs, std::unique_ptr<Detector> detector)
    : transport_(inputs.transport),
      inputs_(inputs),
      detector_(std::move(detector)),
      queues_(inputs.transport, inputs.session, inputs.assignment, inputs.options, detector_.get(),
              detector_ == nullptr || detector_->traits().synchronousSends ? SendMode::Synchronous
                                                                           : SendMode::Eager,
              inputs.statistics),
      states_(static_cast<std::size_t>(inputs.assignment.count(inputs.transport.rank()))),
      next_(states_.size()),
      clock_(inputs.transport.now()),
      passiveSince_(clock_) {
  std::iota(next_.begin(), next_.end(), 0);
}

template <class Action>
void ScheduleMachine::guarded(Action&& action) {
  try {
    action();
  } catch (...) {
    inputs_.fail(currentExceptionReport());
  }
}

bool ScheduleMachine::advance() {
  const double before = clock_;
  wasBusy_ = std::exchange(busy_, false);
  // After an idle turn the caller may have waited.
  const double begin = wasBusy_ ? before : transport_.now();
  noteIdle(before, begin);
  turnComputing_ = 0;
  const bool ended = turn();
  clock_ = transport_.now();
  ExchangeStatistics& statistics = inputs_.statistics;
  statistics.computingSeconds += turnComputing_;
  if (busy_)
    statistics.communicationSeconds += std::max(0.0, clock_ - begin - turnComputing_);
  else
    noteIdle(begin, clock_);
  const bool passive = blocksDone() && queues_.quiet();
  if (passive && (busy_ || !wasPassive_)) passiveSince_ = clock_;
  wasPassive_ = passive;
  if (ended) {
    statistics.terminationDelaySeconds = clock_ - passiveSince_;
    if (detector_ != nullptr) statistics.waves += detector_->waves();
  }
  return ended;
}

void ScheduleMachine::noteIdle(double begin, double end) {
  inputs_.statistics.idleSeconds += end - begin;
  if (inputs_.options.timeline) inputs_.options.timeline->add(Activity::Idle, begin, end);
}

void ScheduleMachine::stop() {
  stopped_ = true;
  current_.clear();
  next_.clear();
  position_ = 0;
  stuck_ = 0;
  for (BlockState& state : states_) state = BlockState{false, false};
  queues_.drop();
}

void ScheduleMachine::receive() {
  guarded([&] {
    const int batches = queues_.receive(
        [this](int source, const BatchFooter& footer) { return onBatch(source, footer); });
    if (batches > 0) busy_ = true;
    // After an idle turn the time since then is not that of looking.
    lookedInVain_ = batches == 0 && wasBusy_;
  });
  wakeBlocks();
}

void ScheduleMachine::poll() {
  transport_.poll();
  if (queues_.sending() && queues_.retire()) busy_ = true;
}

void ScheduleMachine::wakeBlocks() {
  for (const std::int32_t index : queues_.woken()) {
    BlockState& state = states_[static_cast<std::size_t>(index)];
    if (state.stuck) {
      state.stuck = false;
      --stuck_;
    }
    if (!state.queued) {
      state.queued = true;
      next_.push_back(index);
    }
  }
  queues_.woken().clear();
}

void ScheduleMachine::nextList() {
  current_.clear();
  current_.swap(next_);
  position_ = 0;
}

void ScheduleMachine::startRound() {
  wakeBlocks();
  nextList();
  for (const std::int32_t index : current_) queues_.inbox(firstBlock() + index).open();
}

void ScheduleMachine::callBlocks(bool open) {
  if (listDone()) return;
  if (!queues_.mayProduce()) {
    if (!paused_) ++inputs_.statistics.pauses;
    paused_ = true;
    return;
  }
  paused_ = false;
  busy_ = true;
  const double begin = transport_.now();
  if (lookedInVain_) {
    callSeconds_ = std::clamp(CallsPerLook * (begin - clock_), ShortestCalls, LongestCalls);
  }
  double before = begin;
  int lists = 0;
  while (true) {
    const std::int32_t called = current_[position_++];
    call(called, open);
    const double now = transport_.now();
    turnComputing_ += now - before;
    if (inputs_.options.timeline)
      inputs_.options.timeline->add(Activity::Call, before, now, firstBlock() + called);
    before = now;
    queues_.flushDue(now);
    if (now - begin >= callSeconds_ || !queues_.mayProduce()) break;
    if (!listDone()) continue;
    if (!open || ++lists >= MostListsPerLook) break;
    wakeBlocks();
    if (next_.empty()) break;
    nextList();
  }
  wakeBlocks();
}

void ScheduleMachine::call(std::int32_t index, bool open) {
  const BlockId block = firstBlock() + index;
  Inbox& inbox = queues_.inbox(block);
  if (open) inbox.open();
  const std::size_t visible = inbox.visible();
  ++progress_;
  queues_.touch();
  ++inputs_.statistics.callbacks;
  bool more = false;
  guarded([&] {
    Mailbox mailbox(queues_, block);
    more = inputs_.step(block, mailbox);
  });
  if (stopped_) return;
  inbox.close();
  const std::size_t left = inbox.visible();
  const bool took = left < visible;
  BlockState& state = states_[static_cast<std::size_t>(index)];
  state.queued = more || inbox.arrived() > 0 || (left > 0 && took);
  if (state.queued) {
    next_.push_back(index);
  } else if (left > 0) {
    state.stuck = true;
    ++stuck_;
  }
}

std::string ScheduleMachine::describe() const {
  std::string blocks;
  std::int64_t open = 0;
  std::int64_t unread = 0;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (!states_[i].queued && !states_[i].stuck) continue;
    ++open;
    if (states_[i].stuck) ++unread;
    if (open <= 8) blocks += " " + std::to_string(firstBlock() + static_cast<BlockId>(i));
  }
  std::string text = std::to_string(open) + " blocks not done";
  if (open > 0) text += " (" + blocks.substr(1) + (open > 8 ? " ...)" : ")");
  if (unread > 0) {
    text += ", of these " + std::to_string(unread) + " leave messages in their mailbox";
  }
  return text + "; " + queues_.describe() + "; " + phase();
}

}  // namespace tributary::detail
