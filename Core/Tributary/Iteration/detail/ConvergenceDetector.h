// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "Tributary/Iteration/ResidualReduction.h"
#include "Tributary/Iteration/detail/Snapshot.h"

namespace tributary::detail {

/// Callbacks of a convergence detector on one rank.
struct ConvergenceCallbacks {
  /// Computes the residual of the recorded part of this rank, as defined by Norm.
  std::function<double(Span<const double> recorded, const Incoming& incoming)> residual;
  /// Returns the current stop reasons of this rank, as bits of StopReason.
  std::function<std::uint32_t()> reasons;
  /// Evaluates an additional condition when this rank records.
  std::function<bool()> condition;
};

/// Detects the convergence of asynchronous iterations by the residuals of successive snapshots, in
/// rounds (JACK2, doi:10.1016/j.advengsoft.2018.01.009, Listings 5 to 7). With a general snapshot
/// the method is SSAR, with supervised termination it is SnapReduce (SB96).
///
///   Recording --snapshot complete: reduce the residual of the recorded part--> Reducing
///   Reducing --norm of the global residual known--> Known --next turn--> Recording, the next round
///
/// The norm is that of the recorded iterate and is the same on all ranks. No other value is
/// compared with a threshold. Rounds do not mix: a rank contributes to a norm when its snapshot of
/// that round is complete, and no rank knows the norm before all ranks have contributed.
class ConvergenceDetector {
 public:
  /// @param reduce  not used by other code until the outcome of a round is known; must outlive the
  ///                detector
  ConvergenceDetector(std::unique_ptr<Snapshot> snapshot, NonBlockingReduce& reduce, Norm norm,
                      ConvergenceCallbacks callbacks);

  /// Performs one non-blocking turn. The iterate of this rank must not be partially updated.
  /// @param converged  whether this rank considers itself locally converged
  /// @return whether the outcome of a round is known; the next call begins the next round
  [[nodiscard]] bool advance(bool converged);

  /// The outcome of the round, the same on all ranks. @pre known
  const ResidualReduction::Part& outcome() const { return outcome_; }
  /// The snapshot of the current round, which is in progress or known.
  const Snapshot& snapshot() const { return *snapshot_; }
  /// The number of rounds whose outcome this rank knows.
  std::int64_t rounds() const { return rounds_; }

  /// See Detector::state().
  std::string state() const;

 private:
  enum class State { Recording, Reducing, Known };

  std::unique_ptr<Snapshot> snapshot_;
  ResidualReduction reduction_;
  ConvergenceCallbacks callbacks_;
  State state_ = State::Recording;
  bool met_ = false;
  ResidualReduction::Part outcome_;
  std::int64_t rounds_ = 0;
};

}  // namespace tributary::detail
