// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "Tributary/Reduction/detail/Arrays.h"
#include "Tributary/Reduction/detail/GroupTree.h"

namespace tributary {

/// Swap reduction of arrays over blocks (radix-k): T. Peterka, R. Ross, "Versatile
/// Communication Algorithms for Data Analysis", EuroMPI 2012, LNCS 7490, Algorithm 2.
///
/// Each block has a buffer of the same number of elements. In each round k neighboring groups of
/// blocks exchange parts of their partial results. At the end each block of a group has one part,
/// combined over all blocks of the group. A full reduction leaves 1/n of the result on each of n
/// blocks; fewer rounds give a partial reduction.
///
/// The reduction works in the buffers. A block's part of the result is at its place in the block's
/// buffer: see part(). The rest of the buffer is undefined.
///
/// Can run any number of times. Non-blocking with start() and advance().
class SwapBytes : public detail::ArrayReduction {
 public:
  /// Collective: see the constructor of ReductionMachine.
  SwapBytes(Transport& transport, const Assignment& assignment, KValues kValues,
            detail::ArrayOperation operation);

  void start(const std::vector<std::byte*>& buffers) override;

  /// The elements of the result that a local block (counted from 0) has at the end.
  [[nodiscard]] Interval part(std::size_t localBlock) const;

 protected:
  void accept(detail::BlockMessage&& message) override;
  bool work() override;
  void giveUp() override { sendFailed(blocks_, length()); }
  std::int64_t expectedFromOthers() const override { return comingFromOthers(blocks_, length()); }

 private:
  /// Elements that each group sends in one message.
  struct Segment {
    Interval elements;
    detail::GroupTree tree;
    std::vector<std::byte*> from;  // by group
  };
  /// A round of a block.
  struct Swap {
    BlockId first = 0;  // block of the groups that meet
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
  /// Whether a block's part is within the previous one in all rounds: memory that was sent is never
  /// written then.
  bool nests(BlockId block) const;
  /// Sends the parts that other blocks need, and processes messages that arrived early.
  void startRound(Block& block);
  /// Advances the block over all rounds that are done.
  void proceed(Block& block);
  void send(const Block& block);
  void take(Block& block, detail::BlockMessage&& message, const Interval& theirs);
  void arrived(Block& block, Segment& segment, int group);
  std::byte* at(const Block& block, std::int64_t element) const {
    return block.buffer + bytes(element);
  }

  std::vector<Block> blocks_;
  std::vector<Ready> ready_;
};

/// Swap reduction of arrays of a trivially copyable type.
template <class T>
using SwapReduction = detail::OfType<SwapBytes, T>;

}  // namespace tributary
