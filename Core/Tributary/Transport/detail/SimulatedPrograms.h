// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "Tributary/Transport/Transport.h"
#include "Tributary/Transport/detail/Fiber.h"

namespace tributary::detail {

/// Element by element, `values` into `sum`. Throws Error if ranks gave different operations or
/// numbers of values.
void combineReduced(ReduceOp op, std::vector<std::int64_t>& sum, ReduceOp otherOp,
                    const std::vector<std::int64_t>& values);

/// What the ranks of a simulated network do: bodies that may wait, or steps that may not. A part of
/// the networks, which decide whose turn it is.
class SimulatedPrograms {
 public:
  /// @param transports  of the ranks; outlive the run
  void startBodies(const std::vector<Transport*>& transports,
                   const std::function<void(Transport&)>& body, std::size_t stackBytes);
  void startSteps(const std::vector<Transport*>& transports,
                  const std::function<bool(Transport&)>& step);

  /// Whether ranks may wait.
  bool bodies() const { return !step_; }
  int running() const { return running_; }
  bool ended(int rank) const { return ranks_[static_cast<std::size_t>(rank)].ended; }

  /// Lets a rank go on until it pauses, or for one step. An exception of a step comes out; that of
  /// a body ends the body and is kept. @pre not ended
  void resume(int rank);
  /// Called on behalf of the rank that goes on, if it has a body: ends its turn.
  void pause();

  /// Throws what the body of the lowest rank threw, if any did.
  void rethrow() const;
  /// Ends all bodies: what lies on their stacks is destroyed, as if pause() had thrown.
  void cancel();

 private:
  struct Rank {
    std::unique_ptr<Fiber> fiber;
    std::exception_ptr error;
    bool ended = false;
  };
  struct Canceled {};

  std::vector<Transport*> transports_;
  std::vector<Rank> ranks_;
  std::function<void(Transport&)> body_;
  std::function<bool(Transport&)> step_;
  Fiber* current_ = nullptr;
  int running_ = 0;
  bool canceling_ = false;
};

}  // namespace tributary::detail
