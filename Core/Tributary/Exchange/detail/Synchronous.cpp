// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Base/Error.h"
#include "Tributary/Exchange/detail/ScheduleMachine.h"

namespace tributary::detail {

namespace {

/// Bulk-synchronous rounds. Every block that has something to do is called once; what it sends is
/// seen in the next round.
///
/// States: Stepping (calling blocks) -> Sending (until all sends of this round have begun to
/// arrive; they are synchronous) -> Reducing (an all-reduce of "there will be something to do").
/// Nobody leaves Reducing before all have entered it, so everything sent in the round has begun to
/// arrive by then (the argument of Hoefler, Siebert, Lumsdaine 2010). The end is known when no rank
/// has anything to do. A faster rank's batches of the next round are kept until this rank is there.
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
    throw Error("malformed batch from rank " + std::to_string(source) + ": of round " +
                std::to_string(footer.round) + " in round " + std::to_string(round_));
  }

  std::string phase() const override {
    switch (state_) {
      case State::Stepping:
        return "in round " + std::to_string(round_);
      case State::Sending:
        return "sending in round " + std::to_string(round_);
      case State::Reducing:
        break;
    }
    return "waiting for the end of round " + std::to_string(round_);
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
