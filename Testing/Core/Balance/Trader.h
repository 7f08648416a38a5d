// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "Balance/Toy.h"
#include "Tributary/Balance/LendingDesk.h"
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
        memory_(options.memory),
        stepSeconds_(stepSeconds),
        work_(rules, transport.rank()),
        desk_(transport, rules.assignment, work_, options) {}

  bool operator()(BlockId address, Mailbox& mailbox) {
    if (!desk_.isHere(address))
      while (const auto message = mailbox.dequeueView())
        work_.arrive(desks().blockAt(address), Reader(message->payload).value<Token>());
    desk_.receive(mailbox);
    expectRoom();
    // Each call works anywhere, because tokens get into copies, and back into blocks, without a
    // message to the block.
    if (const BlockId block = work_.busy(); block >= 0) {
      const double begin = transport_.now();
      transport_.spend(stepSeconds_);
      work_.step(
          block,
          [&](BlockId to, const Token& token) { mailbox.enqueue(desks().addressOf(to), token); },
          transport_.now() - begin);
      ++steps_;
    }
    desk_.settle(mailbox);
    return !work_.idle();
  }

  const Desks& desks() const { return desk_.desks(); }
  const Toy& work() const { return work_; }
  const Lending& lending() const { return desk_.lending(); }
  /// The number of steps of tokens on this rank.
  std::int64_t steps() const { return steps_; }

 private:
  void expectRoom() const { EXPECT_LE(work_.copyMemory(), memory_); }

  Transport& transport_;
  std::size_t memory_;
  double stepSeconds_;
  Toy work_;
  LendingDesk desk_;
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
