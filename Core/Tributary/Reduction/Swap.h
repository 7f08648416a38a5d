// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "Tributary/Reduction/detail/Arrays.h"
#include "Tributary/Reduction/detail/GroupTree.h"

namespace tributary {

/// Swap reduction of arrays over blocks (Peterka and Ross, Algorithm 2; radix-k): each block gives
/// a buffer of as many elements; in each round k neighboring groups of blocks share out their
/// partial results, so that in the end each block of a group holds its part, combined over all
/// blocks of the group. Full, when every block has 1/n of the result, or partial with fewer rounds.
///
/// Works in the buffers: a block's part of the result lies where it belongs in that block's buffer,
/// see part(); the rest of the buffer keeps what it had or partial results.
///
/// Can be run many times. Non-blocking with start() and advance(), on any transport.
class SwapBytes : public detail::ArrayReduction {
 public:
  /// Collective. Throws Error on all ranks if arguments are wrong or differ between ranks.
  /// @param transport  outlives the reduction
  /// @param kValues    groups that meet in each round
  /// @param length     elements of each block's buffer
  /// @param elementBytes  of an element
  /// @param parallelFor   threads for the combining
  SwapBytes(Transport& transport, const Assignment& assignment, KValues kValues,
            std::int64_t length, std::size_t elementBytes, Combine combine,
            ParallelFor parallelFor = serialFor);

  void start(const std::vector<std::byte*>& buffers) override;

  /// Elements of the result that a local block (from 0) has in the end.
  Interval part(std::size_t localBlock) const;

 protected:
  bool turn() override;
  bool turnsEnded() const override { return unfinished_ == 0; }
  void giveUp() override;
  std::int64_t expectedFromOthers() const override;

 private:
  /// Elements that every group has in one message each.
  struct Segment {
    Interval elements;
    detail::GroupTree tree;
    std::vector<std::byte*> from;  // by group
  };
  /// A round of a block.
  struct Swap {
    BlockId first = 0;  // of the groups that meet
    int groups = 0;
    Interval before;  // the block's part
    Interval after;
    std::size_t missing = 0;  // segments that are not done
    std::vector<Segment> segments;
    std::vector<Bytes> arrived;  // what segments point to
  };
  struct Block {
    BlockId id = 0;
    std::byte* buffer = nullptr;
    bool nests = false;
    int round = 0;
    int roundsSent = 0;
    Swap swap;                                // of this round
    std::vector<detail::BlockMessage> early;  // of later rounds
  };
  struct Ready {
    Block* block;
    Segment* segment;
    int lower;
    int upper;
  };

  Swap swapOf(const Block& block) const;
  /// Whether a block's part lies in the one before in all rounds: then nothing is ever written
  /// where it has sent from.
  bool nests(BlockId block) const;
  /// Sends what others need of the block, and takes what came early.
  void startRound(Block& block);
  /// Goes through all rounds of the block that are done.
  void proceed(Block& block);
  void send(const Block& block);
  void accept(detail::BlockMessage&& message);
  void take(Block& block, detail::BlockMessage&& message, const Interval& theirs);
  void arrived(Block& block, Segment& segment, int group);
  void combineReady();
  std::byte* at(const Block& block, std::int64_t element) const {
    return block.buffer + bytes(element);
  }

  std::vector<Block> blocks_;
  std::vector<Ready> ready_;
  std::size_t unfinished_ = 0;
};

/// The same for arrays of a trivially copyable type.
template <class T>
using SwapReduction = detail::OfType<SwapBytes, T>;

}  // namespace tributary
