// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "Tributary/Reduction/detail/Machine.h"

namespace tributary {

/// Bytes that one block sends to another.
struct Parcel {
  BlockId block;  ///< When sent, the destination; when received, the source.
  Bytes bytes;
};

/// All-to-all exchange of parcels between blocks, with the rounds of the swap reduction
/// (SwapBytes): elements are blocks, and combining is collecting. In each round a block forwards
/// parcels to the blocks that are responsible for their destinations. A single round sends each
/// parcel directly, in one message for each pair of blocks. More rounds with smaller k send fewer
/// messages, but forward each parcel in every round.
///
/// Can run any number of times. Non-blocking with start() and advance().
class AllToAll : public detail::ReductionMachine {
 public:
  /// Capacity that a parcel's buffer should have beyond its end, in bytes: a parcel that is sent
  /// alone is not copied then.
  static constexpr std::size_t Tail = 96;

  /// K-values for small parcels: one round for few blocks, several for many. Use one round for
  /// large parcels, so that each is sent once.
  [[nodiscard]] static KValues defaultKValues(std::int64_t blocks);

  /// Collective: see the constructor of ReductionMachine. Also throws Error on all ranks unless the
  /// product of the k-values is at least the number of blocks.
  /// @param errors  of this rank: if a rank has one, all ranks throw it
  AllToAll(Transport& transport, const Assignment& assignment, KValues kValues,
           const ErrorCollector& errors = {});

  /// Starts a run. Collective, without communication. Throws Error if a destination does not exist.
  /// @param parcels  of each local block, in order: any number to any block, of any size
  void start(std::vector<std::vector<Parcel>> parcels);
  /// The parcels that each local block received, ordered by source; parcels of one source are in
  /// the order in which it passed them. @pre ended()
  [[nodiscard]] std::vector<std::vector<Parcel>> takeParcels();
  /// Starts a run and advances it to the end. Collective. Throws Error on all ranks if one fails.
  /// @return takeParcels()
  [[nodiscard]] std::vector<std::vector<Parcel>> run(std::vector<std::vector<Parcel>> parcels);

 protected:
  void accept(detail::BlockMessage&& message) override;
  void giveUp() override { sendFailed(blocks_, rounds().blocks()); }
  std::int64_t expectedFromOthers() const override {
    return comingFromOthers(blocks_, rounds().blocks());
  }

 private:
  struct Traveling {
    BlockId from;
    BlockId to;
    std::int64_t number;  // of the parcel, counted by its source
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
  void take(detail::BlockMessage&& message);

  std::vector<Block> blocks_;
};

/// Sends `toEachRank[r]` to rank r: an all-to-all with one block for each rank. Collective. For
/// dense exchanges, in which most ranks send to most others; for sparse ones see exchangeBytes().
/// @param toEachRank  one buffer for each rank, of any size, or none: then this rank sends nothing
/// @return the bytes from each rank, by rank
[[nodiscard]] std::vector<Bytes> allToAll(Transport& transport, std::vector<Bytes> toEachRank);
/// The same with k-values other than AllToAll::defaultKValues(), which are for small parcels.
[[nodiscard]] std::vector<Bytes> allToAll(Transport& transport, std::vector<Bytes> toEachRank,
                                          KValues kValues);
/// The same, for sendRecords(): if a rank has an error, all ranks throw it before bytes are sent,
/// at no additional cost.
[[nodiscard]] std::vector<Bytes> allToAll(Transport& transport, std::vector<Bytes> toEachRank,
                                          ErrorCollector& errors);
/// @overload
[[nodiscard]] std::vector<Bytes> allToAll(Transport& transport, std::vector<Bytes> toEachRank,
                                          KValues kValues, ErrorCollector& errors);

}  // namespace tributary
