// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Termination/detail/Nbx.h"

#include "Tributary/Termination/detail/DetectorFactory.h"

namespace tributary::detail {

namespace {

const DetectorTraits& nbxTraits() {
  static const DetectorTraits traits = {
      "nbx",
      WorkModel::Monotone,
      true,
      "all ranks have been passive, and this one is, with no work message on its way to it",
      "O(P log P): one barrier",
      "O(log P): one barrier",
      1};
  return traits;
}

class Nbx : public Detector {
 public:
  explicit Nbx(Transport& transport) : transport_(transport) {}

  const DetectorTraits& traits() const override { return nbxTraits(); }
  std::int64_t waves() const override { return waves_; }
  std::string state() const override { return state_ == State::Working ? "working" : "waiting"; }

 protected:
  bool turn(bool passive, bool) override {
    if (!passive) return false;
    if (state_ == State::Working) {
      barrier_ = transport_.barrier();
      state_ = State::Waiting;
      return false;
    }
    if (!barrier_.done()) return false;
    ++waves_;
    state_ = State::Working;
    return true;
  }

 private:
  enum class State { Working, Waiting };

  Transport& transport_;
  State state_ = State::Working;
  PendingReduce barrier_;
  std::int64_t waves_ = 0;
};

}  // namespace

DetectorType nbxDetector() {
  return detectorType<Nbx>(nbxTraits());
}

}  // namespace tributary::detail
