// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Termination/detail/SharedCounter.h"

#include <utility>

#include "Tributary/Termination/detail/DetectorFactory.h"
#include "Tributary/Termination/detail/MessagingDetector.h"

namespace tributary::detail {

namespace {

const DetectorTraits& sharedCounterTraits() {
  static const DetectorTraits traits = {
      "shared-counter",
      WorkModel::AP,
      false,
      "all ranks are passive and no work message is in flight",
      "P - 1, and O(P + m) additions to one rank's memory, waited for",
      "O(P): the additions of ranks that become passive together queue up, then O(log P)",
      1};
  return traits;
}

class SharedCounter : public MessagingDetector {
 public:
  SharedCounter(Transport& transport, Session session, const DetectorOptions& options)
      : MessagingDetector(sharedCounterTraits(), transport, session, options),
        work_(transport.shareInteger(transport.size())) {}

  void sent(int) override { work_->fetchAdd(1); }
  void received(int) override { ++held_; }

 protected:
  void handle(int source, std::int64_t, Reader&, bool) override { malformed(source, "no end"); }

  void step(bool passive) override {
    if (!passive || held_ == 0) return;
    const std::int64_t done = std::exchange(held_, 0);
    if (work_->fetchAdd(-done) != done) return;
    work_->fetchAdd(size());
    passCompleted();
    end();
  }

  void restart() override { held_ = 1; }

  std::string describe() const override { return std::to_string(held_) + " of the work held here"; }

 private:
  std::unique_ptr<SharedInteger> work_;
  std::int64_t held_ = 1;  // to be taken away when this rank is passive
};

}  // namespace

DetectorType sharedCounterDetector() {
  return detectorType<SharedCounter>(sharedCounterTraits());
}

}  // namespace tributary::detail
