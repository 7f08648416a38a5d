// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "Exchange/SlowBlockFlow.h"
#include "Tributary/Balance/LendingDesk.h"
#include "Tributary/Balance/WorkMeter.h"
#include "Tributary/Exchange/Exchange.h"

namespace bench {

/// How tracers move and blocks are copied: really, or on a simulated clock. All members are local.
class Motion {
 public:
  virtual ~Motion() = default;

  virtual FlowBlock makeBlock(BlockId block) const = 0;
  /// Traces until the tracer leaves the block. If that takes long, it may stop before.
  /// @param seconds  after which it should stop
  /// @return the block that the tracer enters, the same block if it has not left it, or -1 if it is
  ///         retired
  virtual BlockId advance(FlowBlock& block, Tracer& tracer, double seconds) const = 0;
  virtual void writeField(const FlowBlock& block, tributary::Writer& message) const = 0;
  /// Throws Error if the field is malformed.
  virtual void readField(FlowBlock& block, tributary::Reader& message) const = 0;
  virtual tributary::CopySize copySize(const FlowBlock& block) const;
};

/// The parameters of LentTracers.
struct TracingOptions {
  /// What a tracer stands for: several that travel together.
  int tracersPerItem = 1;
  /// Under the asynchronous schedule, a call ends after this time, or after a quarter of the items
  /// that wait in the block.
  double callSeconds = 25e-6;
};

/// The result of a rank.
struct TracedShare {
  double seconds = 0;         ///< Of the exchange.
  double tracingSeconds = 0;  ///< Of these, for tracers.
  std::uint64_t hash = 0;     ///< Sum over retired tracers; does not depend on their order.
  std::int64_t retired = 0;
  std::int64_t steps = 0;
  tributary::ExchangeStatistics exchange;
  tributary::LendingStatistics lending;
};

/// Traces in the blocks of one rank, and in copies of others: the callback of an exchange, and the
/// work that is lent.
class LentTracers : public tributary::LendableWork {
 public:
  /// All arguments must outlive the object.
  LentTracers(tributary::Transport& transport, const SlowBlockFlow& flow,
              const tributary::Assignment& assignment, const Motion& motion,
              const TracingOptions& options);

  /// Puts the seeds back, and traces them. Collective.
  /// @param lending  null: without it
  TracedShare run(const tributary::ExchangeOptions& options,
                  const tributary::LendingOptions* lending);

  bool idle() const override { return waiting_ == 0; }
  bool anyCopyWaits() const override { return waitingInCopies_ > 0; }
  std::vector<BlockId> takeRefilled() override { return std::exchange(refilled_, {}); }
  double expectedSeconds() const override;
  tributary::WaitingWork fullest() const override;
  tributary::WaitingWork waitingIn(BlockId block) const override;
  tributary::CopySize copySize(BlockId block) const override {
    return motion_.copySize(places_.at(block).block);
  }
  void writeCopy(BlockId block, tributary::Writer& message) const override;
  void lend(BlockId block, std::int64_t items, int borrower, tributary::Writer& message) override;
  bool has(BlockId block) const override { return places_.count(block) > 0; }
  std::vector<tributary::BlockCopy> copies() const override;
  void readCopy(BlockId block, tributary::Reader& message) override;
  void borrow(BlockId block, tributary::Reader& message) override;
  bool isUnused(BlockId copy) const override { return places_.at(copy).block.waiting.empty(); }
  tributary::Bytes drop(BlockId copy) override;
  void takeBack(BlockId block, tributary::Reader& message) override;

 private:
  struct Place {
    FlowBlock block;
    tributary::WorkMeter meter;
  };

  bool isOwn(BlockId block) const {
    const int rank = transport_.rank();
    return block >= assignment_.first(rank) && block < assignment_.first(rank + 1);
  }
  BlockId addressOf(BlockId block) const { return desk_ ? desk_->desks().addressOf(block) : block; }
  static tributary::WaitingWork waitingIn(const Place& place);
  bool step(BlockId address, tributary::Mailbox& mailbox);
  void receive(Place& here, tributary::Mailbox& mailbox);
  Place* nextWaitingCopy();
  void trace(Place& here);
  void add(Place& place, const Tracer& tracer);
  void conclude(const FlowBlock& block);

  tributary::Transport& transport_;
  const SlowBlockFlow& flow_;
  const tributary::Assignment& assignment_;
  const Motion& motion_;
  const TracingOptions options_;
  std::map<BlockId, Place> places_;  // blocks and copies
  std::int64_t waiting_ = 0;         // items, in blocks and copies
  std::int64_t waitingInCopies_ = 0;
  std::map<BlockId, std::vector<Tracer>> outgoing_;
  std::vector<BlockId> refilled_;  // blocks that have got items back and must be called
  std::optional<tributary::LendingDesk> desk_;
  bool hasRounds_ = false;
  BlockId lastCopy_ = -1;  // that was traced in
  TracedShare share_;
};

}  // namespace bench
