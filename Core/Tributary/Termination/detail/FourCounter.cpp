// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Termination/detail/FourCounter.h"

#include <utility>

#include "Tributary/Termination/detail/DetectorFactory.h"

namespace tributary::detail {

namespace {

const DetectorTraits& fourCounterTraits() {
  static const DetectorTraits traits = {"four-counter",
                                        WorkModel::AP,
                                        false,
                                        "all ranks are passive and no work message is in flight",
                                        "O(P log P) a wave",
                                        "O(log P): two or three waves",
                                        3};
  return traits;
}

class FourCounter : public Detector {
 public:
  explicit FourCounter(Transport& transport) : transport_(transport) {}

  const DetectorTraits& traits() const override { return fourCounterTraits(); }
  std::int64_t waves() const override { return waves_; }
  void sent(int) override { ++sent_; }
  void received(int) override { ++received_; }

  std::string state() const override {
    std::string text = (contributed_ ? "waiting, sent " : "working, sent ") +
                       std::to_string(sent_) + ", received " + std::to_string(received_);
    if (!before_.empty()) {
      text += ", sums " + std::to_string(before_[0]) + " and " + std::to_string(before_[1]);
    }
    return text;
  }

 protected:
  bool turn(bool passive, bool) override {
    if (!contributed_) {
      if (!passive) return false;
      wave_ = transport_.allreduce(ReduceOp::Sum, {sent_, received_});
      contributed_ = true;
    }
    if (!wave_.done()) return false;
    std::vector<std::int64_t> sums = std::exchange(wave_, PendingReduce()).result();
    contributed_ = false;
    ++waves_;
    if (sums[0] == sums[1] && sums == before_) {
      before_.clear();
      return true;
    }
    before_ = std::move(sums);
    return false;
  }

 private:
  Transport& transport_;
  std::int64_t sent_ = 0;
  std::int64_t received_ = 0;
  PendingReduce wave_;
  bool contributed_ = false;
  std::vector<std::int64_t> before_;  // the sums of the wave before; none: there was no wave
  std::int64_t waves_ = 0;
};

}  // namespace

DetectorType fourCounterDetector() {
  return detectorType<FourCounter>(fourCounterTraits());
}

}  // namespace tributary::detail
