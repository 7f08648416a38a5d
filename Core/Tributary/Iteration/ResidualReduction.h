// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "Tributary/Iteration/NonBlockingReduce.h"

namespace tributary {

/// The norm of the residual, and so what callbacks return.
enum class Norm {
  Max,  ///< the largest magnitude; ranks give that of their part
  Two   ///< the root of the sum of squares; ranks give the sum of squares of their part
};

/// The norm of a global residual from the parts of the ranks, with what else they have to say, in
/// one reduction of integers. Exact: the same bits in whatever order ranks are combined, with sums
/// rounded once; so all ranks come to the same verdict, and the same on any tree or transport.
class ResidualReduction {
 public:
  /// One rank's part, or what came of all.
  struct Part {
    double residual = 0;        ///< as Norm says; of all: the norm itself
    std::uint32_t reasons = 0;  ///< bits of StopReason; of all: those of any rank
    bool met = true;            ///< further conditions; of all: on every rank
  };

  /// @param reduce  used by nobody else at the same time
  ResidualReduction(NonBlockingReduce& reduce, Norm norm) : reduce_(reduce), norm_(norm) {}

  /// @pre the last one has ended here
  void start(const Part& mine);
  /// One non-blocking turn. @return whether the reduction has ended here. @pre started
  bool advance() { return reduce_.advance(); }
  /// @pre ended; the same on all ranks
  Part result() const;

  std::string state() const { return reduce_.state(); }

 private:
  NonBlockingReduce& reduce_;
  Norm norm_;
};

}  // namespace tributary
