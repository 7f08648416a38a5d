// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Balance/LendingPolicy.h"

#include <algorithm>
#include <cmath>

namespace tributary {
namespace {

class CostPolicy : public LendingPolicy {
 public:
  explicit CostPolicy(double leastGain) : leastGain_(leastGain) {}

  bool asks(bool idle) override { return idle; }

  PlannedLoan plan(const LoanTerms& terms) override {
    if (terms.items <= 0 || !(terms.blockSeconds > 0)) return {};
    const double perItem = terms.blockSeconds / static_cast<double>(terms.items);
    const double bytes = static_cast<double>(terms.copyBytes);
    const double writing = bytes * terms.writeSecondsPerByte;
    const double arriving = writing + terms.latency + bytes * terms.transferSecondsPerByte;
    // The nearest number, as less and more than the best time end later by the same; of two, the
    // lower.
    const double wanted = std::ceil((terms.seconds + writing - arriving) / 2 / perItem - 0.5);
    if (!(wanted >= 1)) return {};
    PlannedLoan loan;
    loan.items = static_cast<std::int64_t>(std::min(wanted, static_cast<double>(terms.items)));
    const double moved = perItem * static_cast<double>(loan.items);
    loan.gain = terms.seconds - std::max(terms.seconds - moved + writing, arriving + moved);
    return loan.gain > std::max(leastGain_, writing) ? loan : PlannedLoan{};
  }

 private:
  double leastGain_;
};

}  // namespace

std::unique_ptr<LendingPolicy> makeCostPolicy(double leastGain) {
  return std::make_unique<CostPolicy>(leastGain);
}

}  // namespace tributary
