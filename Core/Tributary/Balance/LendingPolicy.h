// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tributary {

/// What is known about a loan before it is made. Times are in seconds and were measured in the run.
struct LoanTerms {
  double seconds = 0;                 ///< Expected for all work that waits on the lender.
  double borrowerSeconds = 0;         ///< Expected for all work that waits on the borrower.
  double blockSeconds = 0;            ///< Expected for the items that can be lent.
  std::int64_t items = 0;             ///< That can be lent.
  std::size_t copyBytes = 0;          ///< Of the copy that is sent with the loan; 0 without one.
  double latency = 0;                 ///< Of a message.
  double writeSecondsPerByte = 0;     ///< For the lender to write a copy.
  double transferSecondsPerByte = 0;  ///< From then on until the borrower has read it.
};

/// A loan as it is planned.
struct PlannedLoan {
  std::int64_t items = 0;  ///< To lend; 0 for none.
  double gain = 0;         ///< Seconds by which both ranks are expected to end sooner.
};

/// Decides who asks for loans and what is lent. Local.
class LendingPolicy {
 public:
  virtual ~LendingPolicy() = default;

  /// Whether a rank asks for loans now. Called whenever a rank may ask.
  /// @param idle  whether it has no work
  [[nodiscard]] virtual bool asks(bool idle) = 0;
  /// Whether a rank that has asked accepts an offer, if it has the room.
  /// @param idle  whether it has no work
  /// @param lender  the seconds that the lender's work is expected to take
  /// @param own  the seconds that this rank's work is expected to take; 0 also if that is not known
  [[nodiscard]] virtual bool accepts(bool idle, double lender, double own) = 0;
  /// Whether Lending::isLending() is always true, so that calls are short and loans frequent.
  [[nodiscard]] virtual bool isEager() const { return false; }
  /// How much is lent to one borrower.
  [[nodiscard]] virtual PlannedLoan plan(const LoanTerms& terms) = 0;
};

/// Makes the policy that minimizes the expected time at which both ranks end. An idle rank asks.
/// It accepts if its own work, which may have come since, takes at most half as long as that of the
/// lender. The lender needs R seconds for its work and p for the copy, and the borrower begins
/// after C seconds, when message and copy have arrived and its own work is done. If items of m
/// seconds are lent, the ranks end after R - m + p and C + m. These are equal for m = (R + p - C)
/// / 2. A loan is made if they end sooner than without one, by more than `leastGain` and by more
/// than p.
/// @param leastGain  in seconds
[[nodiscard]] std::unique_ptr<LendingPolicy> makeCostPolicy(double leastGain = 20e-6);

/// Makes an eager policy that asks, lends and refuses at random, for tests: results must not depend
/// on it.
[[nodiscard]] std::unique_ptr<LendingPolicy> makeRandomPolicy(std::uint64_t seed);

/// Makes the policy that the environment variable TRIBUTARY_LENDING names: "random", or the cost
/// policy if it is not set. Throws Error if it has another value.
[[nodiscard]] std::unique_ptr<LendingPolicy> makeDefaultPolicy(std::uint64_t seed);

}  // namespace tributary
