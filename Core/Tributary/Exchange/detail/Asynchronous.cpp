// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Exchange/detail/ScheduleMachine.h"

namespace tributary::detail {

namespace {

/// Nobody waits: iexchange (paper, Algorithms 2 to 4). Each turn takes in what has come, calls
/// blocks that have something to do, sends what is due, and gives the detector its turn.
class Asynchronous : public ScheduleMachine {
 public:
  explicit Asynchronous(const ScheduleInputs& inputs)
      : ScheduleMachine(inputs, makeDetector(inputs)) {}

 protected:
  bool turn() override {
    if (!wasBusy()) queues_.hurry();
    receive();
    if (listDone()) nextList();
    callBlocks(true);
    // Holding a batch back is for a rank that will add to it, not for one that has nothing to do or
    // pauses until others have received.
    if (!ready() || !queues_.mayProduce()) queues_.flushAll();
    poll();
    return detector_->advance(blocksDone() && queues_.quiet(), queues_.takeTouched());
  }

  bool onBatch(int, const BatchFooter&) override { return true; }

  std::string phase() const override {
    return "detector " + detector_->traits().name + " in wave " +
           std::to_string(detector_->waves() + 1) + " (" + detector_->state() + ")";
  }
};

}  // namespace

std::unique_ptr<ScheduleMachine> makeAsynchronous(const ScheduleInputs& inputs) {
  return std::make_unique<Asynchronous>(inputs);
}

}  // namespace tributary::detail
