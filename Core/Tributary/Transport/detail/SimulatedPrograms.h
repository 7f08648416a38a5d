// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "Tributary/Base/Index.h"
#include "Tributary/Transport/Simulated.h"
#include "Tributary/Transport/Transport.h"
#include "Tributary/Transport/detail/Fiber.h"

namespace tributary::detail {

/// Reduces `values` into `sum`, element by element. Throws Error if ranks passed different
/// operations or numbers of values.
void combineReduced(ReduceOp op, std::vector<std::int64_t>& sum, ReduceOp otherOp,
                    const std::vector<std::int64_t>& values);

/// Counts of unfinished operations of a rank, as text for people: "2 messages not received, ...".
class LeftText {
 public:
  /// Appends a count and what it counts, unless it is 0.
  LeftText& add(std::size_t count, const char* what) {
    if (count > 0) text_ += (text_.empty() ? "" : ", ") + std::to_string(count) + " " + what;
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// What virtual ranks of all networks have in common.
class SimulatedRank : public Transport {
 public:
  SimulatedRank(SimulatedNetwork& network, int rank) : network_(network), rank_(rank) {}

  int rank() const final { return rank_; }
  int size() const final { return network_.size(); }
  [[nodiscard]] std::unique_ptr<SharedInteger> shareInteger(std::int64_t initial) final {
    return makeInteger(integers_++, initial);
  }

  /// What this rank has left: see SimulatedNetwork::left(). "" if nothing.
  virtual std::string left() const = 0;

 protected:
  /// @param number  of the integer, in the order in which every rank makes them
  [[nodiscard]] virtual std::unique_ptr<SharedInteger> makeInteger(std::size_t number,
                                                                   std::int64_t initial) = 0;

 private:
  SimulatedNetwork& network_;
  int rank_;
  std::size_t integers_ = 0;
};

/// Runs the programs of the virtual ranks: bodies, which may wait, or steps, which must not. The
/// networks own one of these and decide which rank runs next.
class SimulatedPrograms {
 public:
  /// @param ranks  outlive this object
  template <class NetworkRank>
  explicit SimulatedPrograms(const std::vector<std::unique_ptr<NetworkRank>>& ranks) {
    for (const auto& rank : ranks) transports_.push_back(rank.get());
  }

  /// Starts a body on each rank and calls `turns`, which must resume ranks until all bodies have
  /// ended. Throws the exception of the lowest rank whose body threw one. If `turns` throws, all
  /// bodies are canceled: objects on their stacks are destroyed.
  /// @param stackBytes  address space of each rank's stack
  template <class Turns>
  void runBodies(const std::function<void(Transport&)>& body, std::size_t stackBytes,
                 Turns&& turns) {
    startBodies(body, stackBytes);
    try {
      turns();
    } catch (...) {
      cancel();
      rethrow();
      throw;
    }
    rethrow();
  }
  /// Starts a step program on each rank; the network then resumes ranks until all have ended.
  void startSteps(const std::function<bool(Transport&)>& step);

  /// Whether the ranks run bodies, which may wait.
  bool bodies() const { return !step_; }
  /// The number of ranks whose program has not ended.
  int running() const { return running_; }
  bool ended(int rank) const { return ranks_[index(rank)].ended; }

  /// Runs a rank until it pauses, or for one step. Throws the exception of a step. An exception of
  /// a body ends the body and is kept for runBodies(). @pre not ended
  void resume(int rank);
  /// Called by the body that runs: ends the turn of its rank.
  void pause();

  /// See SimulatedNetwork::left().
  std::string left() const;
  /// Throws Error of kind Stall with what is known of each rank that has not ended.
  /// @param describe  adds to the report of a rank; may be empty
  [[noreturn]] void reportDeadlock(const std::function<std::string(int rank)>& describe) const;

 private:
  void startBodies(const std::function<void(Transport&)>& body, std::size_t stackBytes);
  /// Throws the exception of the lowest rank whose body threw one.
  void rethrow() const;
  /// Ends all bodies by an exception that pause() throws.
  void cancel();

  struct Rank {
    std::unique_ptr<Fiber> fiber;
    std::exception_ptr error;
    bool ended = false;
  };
  struct Canceled {};

  std::vector<SimulatedRank*> transports_;
  std::vector<Rank> ranks_;
  std::function<void(Transport&)> body_;
  std::function<bool(Transport&)> step_;
  Fiber* current_ = nullptr;
  int running_ = 0;
  bool canceling_ = false;
};

}  // namespace tributary::detail
