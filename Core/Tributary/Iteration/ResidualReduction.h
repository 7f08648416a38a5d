// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "Tributary/Iteration/NonBlockingReduce.h"

namespace tributary {

/// The norm of the residual, which determines the values that callbacks return.
enum class Norm {
  Max,  ///< maximum norm; a rank returns the maximum of its part
  Two   ///< 2-norm; a rank returns the sum of the squares of its part
};

/// Computes the norm of a global residual and combines the reasons and conditions of all ranks, in
/// one reduction of integers. Sums are exact and rounded once, so the result has the same bits for
/// any order of ranks, any tree and any transport, and all ranks reach the same verdict.
class ResidualReduction {
 public:
  /// The part of one rank, or the result of all.
  struct Part {
    double residual = 0;        ///< as defined by Norm; in the result: the norm
    std::uint32_t reasons = 0;  ///< bits of StopReason; in the result: the union
    bool met = true;            ///< further condition; in the result: on all ranks
  };

  /// @param reduce  must outlive this object; not used by others during a reduction
  ResidualReduction(NonBlockingReduce& reduce, Norm norm) : reduce_(reduce), norm_(norm) {}

  /// Begins a reduction. @pre the previous one has ended on this rank
  void start(const Part& mine);
  /// Makes one non-blocking turn. @return whether the reduction has ended on this rank
  /// @pre started
  [[nodiscard]] bool advance() { return reduce_.advance(); }
  /// @pre the reduction has ended; the same on all ranks
  [[nodiscard]] Part result() const;

  /// See Detector::state().
  std::string state() const { return reduce_.state(); }

 private:
  NonBlockingReduce& reduce_;
  Norm norm_;
};

}  // namespace tributary
