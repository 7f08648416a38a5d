// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Exchange/detail/ScheduleMachine.h"

namespace tributary::detail {

namespace {

/// Bulk-synchronous rounds. Every block with work is called once per round; its messages are
/// received in the next round.
///
/// States: Stepping (calls blocks) -> Sending (until all synchronous sends of this round are
/// matched) -> Reducing (an all-reduce of "this rank has work in the next round"). No rank leaves
/// Reducing before all ranks have entered it. So all messages of the round are then matched
/// (T. Hoefler, C. Siebert, A. Lumsdaine, PPoPP 2010, doi:10.1145/1693453.1693476). The exchange
/// ends when no rank has work. Batches of the next round from a faster rank are kept until this
/// rank begins that round.
class Synchronous : public ScheduleMachine {
 public:
  explicit Synchronous(const ScheduleInputs& inputs) : ScheduleMachine(inputs, nullptr) {
    startRound();
    ++inputs_.statistics.rounds;
  }

 protected:
  bool turn() override {
    receive();
    if (state_ == State::Stepping) {
      callBlocks(false);
      if (listDone()) {
        queues_.flushAll();
        state_ = State::Sending;
      }
    }
    poll();
    if (state_ == State::Sending && !queues_.sending()) {
      // What this rank has received meanwhile was counted by its sender.
      const bool more = !stopped_ && (!blocksDone() || queues_.traffic() != trafficBefore_);
      reduction_ = transport_.allreduce(ReduceOp::Or, {more ? 1 : 0});
      state_ = State::Reducing;
      return false;
    }
    if (state_ == State::Reducing && reduction_.done() && !queues_.receiving()) {
      ++inputs_.statistics.waves;
      busy_ = true;
      if (reduction_.result()[0] == 0) return true;
      beginRound();
    }
    return false;
  }

  bool onBatch(int source, const BatchFooter& footer) override {
    if (footer.round == round_) return true;
    if (footer.round == round_ + 1) return false;
    refuseBatch(source, "it is of round " + std::to_string(footer.round) + " in round " +
                            std::to_string(round_));
  }

  std::string phase() const override {
    const std::string round = " round " + std::to_string(round_);
    if (state_ == State::Stepping) return "in" + round;
    if (state_ == State::Sending) return "sending in" + round;
    return "waiting for the end of" + round;
  }

 private:
  enum class State { Stepping, Sending, Reducing };

  void beginRound() {
    trafficBefore_ = queues_.traffic();
    startRound();
    queues_.setRound(++round_);
    queues_.deliverKept();
    ++inputs_.statistics.rounds;
    state_ = State::Stepping;
  }

  State state_ = State::Stepping;
  std::int64_t round_ = 0;
  std::int64_t trafficBefore_ = 0;
  PendingReduce reduction_;
};

}  // namespace

std::unique_ptr<ScheduleMachine> makeSynchronous(const ScheduleInputs& inputs) {
  return std::make_unique<Synchronous>(inputs);
}

}  // namespace tributary::detail
