// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Exchange/detail/ScheduleMachine.h"

namespace tributary::detail {

namespace {

/// Exchange without rounds: D. Morozov et al., "IExchange: Asynchronous Communication and
/// Termination Detection for Iterative Algorithms", LDAV 2021, doi:10.1109/LDAV53230.2021.00009,
/// Algorithms 2 to 4. Each turn receives batches, calls blocks with work, sends batches that are
/// due, and advances the detector.
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
    // Only a rank that will add messages to a batch holds it back; not a rank without work or one
    // that pauses until its sends finish.
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
