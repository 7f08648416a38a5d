// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "Tributary/Balance/LendableWork.h"
#include "Tributary/Balance/LendingPolicy.h"
#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Collective/Assignment.h"
#include "Tributary/Exchange/Timeline.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// What loans cost, as measured. The defaults are typical for two processes on one node.
struct LendingRates {
  double latency = 10e-6;                ///< Of a message, in seconds.
  double writeSecondsPerByte = 0.6e-9;   ///< For the lender to write a copy.
  double transferSecondsPerByte = 2e-9;  ///< From then on until the borrower has read it.
};

/// Parameters of Lending. May differ among ranks.
struct LendingOptions {
  /// The limit in bytes of the copies that this rank has, by CopySize::memory. Default: 512 MiB.
  std::size_t memory = std::size_t(512) << 20;
  /// Null for makeDefaultPolicy(). Must outlive the Lending.
  LendingPolicy* policy = nullptr;
  LendingRates rates;  ///< What is expected before the run has measured it.
  /// Receives the loans, and when they were written and read; null for none. Must outlive the
  /// Lending.
  Timeline* timeline = nullptr;
};

/// Counters of one rank.
struct LendingStatistics {
  std::int64_t requests = 0;    ///< Sent.
  std::int64_t offers = 0;      ///< Sent.
  std::int64_t loans = 0;       ///< Sent.
  std::int64_t items = 0;       ///< Lent.
  std::int64_t copies = 0;      ///< Of blocks, sent with loans.
  std::int64_t bytes = 0;       ///< Of these copies.
  std::int64_t dropped = 0;     ///< Copies that were destroyed for others.
  std::int64_t copyMemory = 0;  ///< The most bytes that copies were allowed to take on this rank.
  double expectedGain = 0;      ///< Seconds: the sum of PlannedLoan::gain.
};

/// Lets ranks without work borrow work from others, with copies of the blocks that it needs.
///
/// Ranks that ask and lend are neighbors in a hypercube (their numbers differ in one bit; in its
/// part with existing ranks if their number is no power of two). A rank without work asks all of
/// its neighbors once. A neighbor that has work to spare, at once or later, offers work of its
/// fullest block to each rank that has asked, in the order of descending bits. If the rank is still
/// idle and has the block, or room for a copy, it accepts, and gets half of the work, or what the
/// policy says, and the copy. A rank that has work again accepts if it has much less than the
/// lender. Of several offers it answers that of the rank with the most work first. It may lend on.
/// So the work of a single rank reaches all ranks of a hypercube in a binomial tree. Borrowed work
/// that is not done in time goes back in the same way: when its owner is idle, it asks.
///
/// Each offer is answered, and so is each acceptance. A rank accepts one offer at a time; others
/// wait for their answers, but no rank stops working for an answer. A loan ends the request. Rank A
/// sends to B:
///
///     request  ->  offer (from B)  ->  acceptance or refusal  ->  loan or nothing (from B)
///
/// All messages are ordinary ones of an exchange, so that a detector of the AP model covers them:
/// an idle rank answers. It sends requests only after it had work, so that the exchange ends.
///
/// The idea of lifelines: V. Saraswat et al., "Lifeline-based Global Load Balancing", PPoPP 2011,
/// doi:10.1145/1941553.1941582; for particles R. Binyahib, D. Pugmire, B. Norris, H. Childs, "A
/// Lifeline-Based Approach for Work Requesting and Parallel Particle Advection", LDAV 2019,
/// doi:10.1109/LDAV48142.2019.8944355. There, requests are for work or for data, and blocks are on
/// a file system.
///
/// All members are local.
class Lending {
 public:
  /// Sends a message to the desk of a rank: see Desks.
  using Post = std::function<void(int rank, Bytes&& message)>;

  /// @param transport  gives ranks and time; must outlive the object, like `work`
  /// @param blocks  which rank owns which block
  Lending(const Transport& transport, const Assignment& blocks, LendableWork& work,
          const LendingOptions& options);
  ~Lending();

  /// Receives a message of another rank's Lending. Throws Error if it is malformed.
  void receive(int from, Span<const std::byte> message, const Post& post);
  /// Asks for work, or offers work, where it is time. Call it after each call of a callback on this
  /// rank, and at least once.
  void settle(const Post& post);

  /// Whether an offer has no answer, or a loan no receipt. Calls of callbacks should be short then:
  /// others wait, and large messages need a sender that looks after them.
  [[nodiscard]] bool isLending() const { return offered_ + lent_ > 0 || policy_.isEager(); }

  /// What was measured, and else what was expected.
  [[nodiscard]] const LendingRates& rates() const { return rates_; }
  /// The counters so far.
  [[nodiscard]] const LendingStatistics& statistics() const { return statistics_; }
  /// Describes everything but times that decides what happens next.
  [[nodiscard]] std::string state() const;

 private:
  struct Note;
  struct Neighbor;

  Neighbor& neighborOf(int rank);
  void ask(const Post& post);
  void offer(const Post& post);
  void answerOffers(const Post& post);
  bool reserve(BlockId block, std::size_t memory, const Post& post);
  void onOffer(Neighbor& from, const Note& note);
  void onAnswer(Neighbor& from, const Note& note, const Post& post);
  void onLoan(Neighbor& from, const Note& note, Reader& rest, const Post& post);
  Bytes loanOf(Neighbor& to, BlockId block, bool copies, std::int64_t items);
  LoanTerms termsOf(const WaitingWork& waiting, std::size_t copyBytes) const;

  const Transport& transport_;
  const Assignment blocks_;
  LendableWork& work_;
  const std::size_t memory_;
  std::unique_ptr<LendingPolicy> ownPolicy_;
  LendingPolicy& policy_;
  Timeline* const timeline_;
  std::vector<Neighbor> neighbors_;  // highest bit first
  int asking_ = 0;                   // neighbors that ask and have no offer
  int offered_ = 0;                  // neighbors with an offer
  int lent_ = 0;                     // neighbors with a loan of which there is no receipt
  Neighbor* accepted_ = nullptr;     // whose offer this rank has accepted
  bool hadWork_ = true;              // since it asked

  struct Copy {
    std::size_t memory;
    std::int64_t lastUse;
  };
  std::map<BlockId, Copy> copies_;  // and one for which there is a loan under way
  std::int64_t uses_ = 0;

  double acceptedAt_ = 0;
  double turn_, turnBefore_;  // times at which this rank last settled
  LendingRates rates_;
  LendingStatistics statistics_;
};

}  // namespace tributary
