// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "Tributary/Iteration/ResidualReduction.h"
#include "Tributary/Iteration/detail/Snapshot.h"

namespace tributary::detail {

/// What a convergence detector asks of a rank.
struct ConvergenceCallbacks {
  /// The residual of this rank's recorded part, as Norm says.
  std::function<double(Span<const double> recorded, const Incoming& incoming)> residual;
  /// Bits of StopReason, those of this rank as of now.
  std::function<std::uint32_t()> reasons;
  /// A further condition, asked when this rank records.
  std::function<bool()> condition;
};

/// Finds out whether asynchronous iterations have converged, by the residual of snapshots, round by
/// round (JACK2, Listings 5 to 7): with a general snapshot it is SSAR, with supervised termination
/// SnapReduce (SB96).
///
///   Recording --snapshot complete: residual of the recorded part, into the reduction--> Reducing
///   Reducing --norm of the global residual known--> Known --next turn--> Recording, the next round
///
/// The norm is that of the very iterate recorded, and the same on all ranks; nothing else is ever
/// compared with a threshold. Rounds do not mix: no rank knows a norm before all have given their
/// part of it, which they do when their snapshot of that round is complete.
class ConvergenceDetector {
 public:
  /// @param reduce  used by nobody else before a round is known; outlives the detector
  ConvergenceDetector(std::unique_ptr<Snapshot> snapshot, NonBlockingReduce& reduce, Norm norm,
                      ConvergenceCallbacks callbacks);

  /// One non-blocking turn, at a moment when this rank's iterate is whole.
  /// @param converged  local convergence, as far as this rank can tell
  /// @return whether the outcome of a round is known; the next call begins the next round
  bool advance(bool converged);

  /// @pre known; the same on all ranks
  const ResidualReduction::Part& outcome() const { return outcome_; }
  /// Of the round that is under way or known.
  const Snapshot& snapshot() const { return *snapshot_; }
  /// Rounds known here.
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
