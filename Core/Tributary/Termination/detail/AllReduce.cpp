// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Termination/detail/AllReduce.h"

#include <utility>

#include "Tributary/Termination/detail/DetectorFactory.h"

namespace tributary::detail {

namespace {

const DetectorTraits& allReduceTraits() {
  static const DetectorTraits traits = {"all-reduce",
                                        WorkModel::AP,
                                        true,
                                        "all ranks are passive and no work message is in flight",
                                        "O(P log P) a reduction, one after the other",
                                        "O(log P): three reductions",
                                        3};
  return traits;
}

class AllReduce : public Detector {
 public:
  explicit AllReduce(Transport& transport) : transport_(transport) {}

  const DetectorTraits& traits() const override { return allReduceTraits(); }
  std::int64_t waves() const override { return waves_; }
  std::string state() const override {
    return std::string(busy_ ? "busy" : "not busy") + (reducing_ ? ", reducing" : "");
  }

 protected:
  bool turn(bool passive, bool touched) override {
    busy_ = busy_ || touched || !passive;
    if (reducing_) {
      if (!reduction_.done()) return false;
      ++waves_;
      reducing_ = false;
      if (reduction_.result()[0] == 0) {
        busy_ = true;
        return true;
      }
    }
    reduction_ = transport_.allreduce(ReduceOp::Or, {busy_ ? 1 : 0});
    reducing_ = true;
    busy_ = !passive;
    return false;
  }

 private:
  Transport& transport_;
  PendingReduce reduction_;
  bool reducing_ = false;
  bool busy_ = true;  // at some moment since the last contribution, that included
  std::int64_t waves_ = 0;
};

}  // namespace

DetectorType allReduceDetector() {
  return detectorType<AllReduce>(allReduceTraits());
}

}  // namespace tributary::detail
