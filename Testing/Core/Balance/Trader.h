// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "Balance/Toy.h"
#include "Tributary/Balance/Desks.h"
#include "Tributary/Balance/Lending.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Exchange/Exchange.h"

namespace tributary::testing {

/// A toy on one rank, as callbacks of an exchange with desks.
class Trader {
 public:
  /// @param stepSeconds  that a step of a token takes
  Trader(Transport& transport, const ToyRules& rules, const LendingOptions& options,
         double stepSeconds = 0)
      : transport_(transport),
        desks_(rules.assignment),
        memory_(options.memory),
        stepSeconds_(stepSeconds),
        work_(rules, transport.rank()),
        lending_(transport, rules.assignment, work_, options) {}

  bool operator()(BlockId address, Mailbox& mailbox) {
    const Lending::Post post = desks_.postOf(transport_.rank(), mailbox);
    const bool desk = desks_.isDesk(address);
    while (const auto message = mailbox.dequeueView()) {
      if (desk) {
        lending_.receive(desks_.rankOf(message->from), message->payload, post);
      } else {
        work_.arrive(desks_.blockAt(address), Reader(message->payload).value<Token>());
      }
      expectRoom();
    }
    // Each call works anywhere, because tokens get into copies, and back into blocks, without a
    // message to the block.
    if (const BlockId block = work_.busy(); block >= 0) {
      const double begin = transport_.now();
      transport_.spend(stepSeconds_);
      work_.step(
          block,
          [&](BlockId to, const Token& token) { mailbox.enqueue(desks_.addressOf(to), token); },
          transport_.now() - begin);
      ++steps_;
    }
    lending_.settle(post);
    return !work_.idle();
  }

  const Desks& desks() const { return desks_; }
  const Toy& work() const { return work_; }
  const Lending& lending() const { return lending_; }
  /// The number of steps of tokens on this rank.
  std::int64_t steps() const { return steps_; }

 private:
  void expectRoom() const { EXPECT_LE(work_.copyMemory(), memory_); }

  Transport& transport_;
  Desks desks_;
  std::size_t memory_;
  double stepSeconds_;
  Toy work_;
  Lending lending_;
  std::int64_t steps_ = 0;
};

/// Runs an exchange of toys on all ranks.
inline void runExchange(Transport& transport, Trader& trader,
                        const std::string& detector = "default") {
  ExchangeOptions options;
  options.detector = detector;
  options.stallTimeout = 60;
  const Assignment& assignment = trader.desks().assignment();
  const auto links = static_cast<std::size_t>(assignment.count(transport.rank()));
  Exchange exchange(transport, assignment, std::vector<std::vector<BlockId>>(links), options,
                    std::ref(trader));
  exchange.run();
}

}  // namespace tributary::testing
