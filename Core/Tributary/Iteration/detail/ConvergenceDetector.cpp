// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Iteration/detail/ConvergenceDetector.h"

#include <utility>

namespace tributary::detail {

ConvergenceDetector::ConvergenceDetector(std::unique_ptr<Snapshot> snapshot,
                                         NonBlockingReduce& reduce, Norm norm,
                                         ConvergenceCallbacks callbacks)
    : snapshot_(std::move(snapshot)), reduction_(reduce, norm), callbacks_(std::move(callbacks)) {}

bool ConvergenceDetector::advance(bool converged) {
  switch (state_) {
    case State::Known:
      snapshot_->next();
      state_ = State::Recording;
      [[fallthrough]];
    case State::Recording: {
      const bool open = !snapshot_->recorded();
      const bool met = open && callbacks_.condition();
      const bool complete = snapshot_->advance(converged);
      if (open && snapshot_->recorded()) met_ = met;
      if (!complete) return false;
      ResidualReduction::Part mine;
      mine.residual = callbacks_.residual(snapshot_->iterate(), snapshot_->incoming());
      mine.reasons = callbacks_.reasons();
      mine.met = met_;
      reduction_.start(mine);
      state_ = State::Reducing;
      [[fallthrough]];
    }
    case State::Reducing:
      if (!reduction_.advance()) return false;
      outcome_ = reduction_.result();
      ++rounds_;
      state_ = State::Known;
      return true;
  }
  return true;
}

std::string ConvergenceDetector::state() const {
  constexpr const char* Names[] = {"recording", "reducing", "known"};
  return std::string(Names[static_cast<int>(state_)]) + (met_ ? ", met" : "") + "; " +
         snapshot_->state() + "; " + reduction_.state();
}

}  // namespace tributary::detail
