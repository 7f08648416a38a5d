// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Balance/LendingPolicy.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Hash.h"

namespace tributary {
namespace {

class CostPolicy : public LendingPolicy {
 public:
  explicit CostPolicy(double leastGain) : leastGain_(leastGain) {}

  bool asks(bool idle) override { return idle; }
  bool accepts(bool idle, double lender, double own) override {
    return idle || (own > 0 && own <= lender / 2);
  }

  PlannedLoan plan(const LoanTerms& terms) override {
    if (terms.items <= 0 || !(terms.blockSeconds > 0)) return {};
    const double perItem = terms.blockSeconds / static_cast<double>(terms.items);
    const double bytes = static_cast<double>(terms.copyBytes);
    const double writing = bytes * terms.writeSecondsPerByte;
    const double arriving = std::max(writing + terms.latency + bytes * terms.transferSecondsPerByte,
                                     terms.borrowerSeconds);
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

class RandomPolicy : public LendingPolicy {
 public:
  explicit RandomPolicy(std::uint64_t seed) : state_(scramble(seed + 1)) {}

  bool asks(bool) override { return draw(8) > 0; }
  bool accepts(bool, double, double) override { return draw(8) > 0; }
  bool isEager() const override { return true; }

  PlannedLoan plan(const LoanTerms& terms) override {
    PlannedLoan loan;
    if (terms.items > 0 && draw(2) == 0)
      loan.items = 1 + std::int64_t(draw(std::uint64_t(terms.items)));
    return loan;
  }

 private:
  /// A number below `bound`.
  std::uint64_t draw(std::uint64_t bound) {
    state_ = scramble(state_);
    return state_ % bound;
  }

  std::uint64_t state_;
};

}  // namespace

std::unique_ptr<LendingPolicy> makeCostPolicy(double leastGain) {
  return std::make_unique<CostPolicy>(leastGain);
}

std::unique_ptr<LendingPolicy> makeRandomPolicy(std::uint64_t seed) {
  return std::make_unique<RandomPolicy>(seed);
}

std::unique_ptr<LendingPolicy> makeDefaultPolicy(std::uint64_t seed) {
  const char* const name = std::getenv("TRIBUTARY_LENDING");
  if (!name || !*name) return makeCostPolicy();
  if (std::string(name) == "random") return makeRandomPolicy(seed);
  throw Error("the environment variable TRIBUTARY_LENDING is \"" + std::string(name) +
              "\"; set it to \"random\", or not at all");
}

}  // namespace tributary
