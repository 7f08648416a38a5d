// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Termination/detail/Consensus.h"

#include <utility>

#include "Tributary/Termination/detail/DetectorFactory.h"

namespace tributary::detail {

namespace {

const DetectorTraits& consensusTraits() {
  static const DetectorTraits traits = {"consensus",
                                        WorkModel::AP,
                                        true,
                                        "all ranks are passive and no work message is in flight",
                                        "O(P log P) a wave",
                                        "O(log P): two waves, four if one was dirtied",
                                        2};
  return traits;
}

class Consensus : public Detector {
 public:
  explicit Consensus(Transport& transport) : transport_(transport) {}

  const DetectorTraits& traits() const override { return consensusTraits(); }
  std::int64_t waves() const override { return waves_; }

  std::string state() const override {
    switch (state_) {
      case State::Working:
        return "working";
      case State::Entering:
        return dirty_ ? "entering, dirty" : "entering, clean";
      case State::Agreeing:
        break;
    }
    return "agreeing";
  }

 protected:
  bool turn(bool passive, bool touched) override {
    switch (state_) {
      case State::Working:
        if (!passive) return false;
        dirty_ = false;
        pending_ = transport_.barrier();
        state_ = State::Entering;
        return false;
      case State::Entering:
        dirty_ = dirty_ || touched || !passive;
        if (!pending_.done()) return false;
        pending_ = transport_.allreduce(ReduceOp::Or, {dirty_ ? 1 : 0});
        state_ = State::Agreeing;
        return false;
      case State::Agreeing:
        if (!pending_.done()) return false;
        ++waves_;
        state_ = State::Working;
        return std::exchange(pending_, PendingReduce()).result()[0] == 0;
    }
    return false;
  }

 private:
  enum class State { Working, Entering, Agreeing };

  Transport& transport_;
  State state_ = State::Working;
  PendingReduce pending_;
  bool dirty_ = false;
  std::int64_t waves_ = 0;
};

}  // namespace

DetectorType consensusDetector() {
  return detectorType<Consensus>(consensusTraits());
}

}  // namespace tributary::detail
