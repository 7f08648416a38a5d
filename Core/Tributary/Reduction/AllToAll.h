// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "Tributary/Reduction/detail/Machine.h"

namespace tributary {

/// What one block sends another.
struct Parcel {
  BlockId block;  ///< Before: to whom. After: from whom.
  Bytes bytes;
};

/// Parcels from any block to any other: the swap reduction's rounds with blocks for elements and
/// collecting for combining. In each round a block hands what is not for its part of the blocks to
/// those who answer for it. One round with all blocks sends each parcel straight to its block, in
/// as many messages as there are pairs of blocks; more rounds with smaller k send fewer messages,
/// each parcel in every round.
///
/// Can be run many times. Non-blocking with start() and advance(), on any transport.
class AllToAll : public detail::ReductionMachine {
 public:
  /// Room that a parcel's buffer should have at its end: a parcel that travels alone is not copied
  /// then.
  static constexpr std::size_t Tail = 96;

  /// For small parcels: one round among few blocks, and more among many. Large ones should travel
  /// once, in one round.
  static KValues defaultKValues(std::int64_t blocks);

  /// Collective. Throws Error on all ranks if arguments are wrong or differ between ranks, or do
  /// not reach from every block to every other.
  /// @param transport  outlives the exchange
  AllToAll(Transport& transport, const Assignment& assignment, KValues kValues);

  /// Begins with the parcels of each local block, in order: any number to any block, of any size.
  /// Collective, without communication. Throws Error if there is no such block.
  void start(std::vector<std::vector<Parcel>> parcels);
  /// What each local block got, by sender, and parcels of one sender in the order in which it sent
  /// them. @pre ended()
  std::vector<std::vector<Parcel>> takeParcels();
  /// start() and advance() to the end. Collective.
  std::vector<std::vector<Parcel>> run(std::vector<std::vector<Parcel>> parcels);

 protected:
  bool turn() override;
  bool turnsEnded() const override { return unfinished_ == 0; }
  void giveUp() override;
  std::int64_t expectedFromOthers() const override;

 private:
  struct Traveling {
    BlockId from;
    BlockId to;
    std::int64_t number;  // of this sender
    Bytes bytes;
  };
  struct Block {
    BlockId id = 0;
    int round = 0;
    int roundsSent = 0;
    std::size_t missing = 0;  // messages in this round
    std::vector<Traveling> parcels;
    std::vector<detail::BlockMessage> early;  // of later rounds
  };

  static Bytes packed(const std::vector<Traveling*>& parcels);
  void unpack(detail::BlockMessage&& message, Block& block);
  std::string parcelsError(const std::vector<std::vector<Parcel>>& parcels) const;
  void startRound(Block& block);
  void proceed(Block& block);
  void accept(detail::BlockMessage&& message);

  std::vector<Block> blocks_;
  std::size_t unfinished_ = 0;
};

/// Sends `toEachRank[r]` (one for each rank, of any size) to rank r and returns what each rank sent
/// to this one, in rank order: an all-to-all with one block a rank. Collective. For where most
/// ranks have something for most others; where few have, see exchangeBytes().
std::vector<Bytes> allToAll(Transport& transport, std::vector<Bytes> toEachRank);
/// The same with other k-values than AllToAll::defaultKValues(), which are for small parcels.
std::vector<Bytes> allToAll(Transport& transport, std::vector<Bytes> toEachRank, KValues kValues);
/// The same, as the exchange of sendRecords(): an error of a rank so far is thrown on all ranks
/// before anything is sent, at no additional cost.
std::vector<Bytes> allToAll(Transport& transport, std::vector<Bytes> toEachRank,
                            ErrorCollector& errors);
std::vector<Bytes> allToAll(Transport& transport, std::vector<Bytes> toEachRank, KValues kValues,
                            ErrorCollector& errors);

}  // namespace tributary
