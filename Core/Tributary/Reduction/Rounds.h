// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "Tributary/Collective/Assignment.h"

namespace tributary {

/// For each round of a reduction, the number k of groups of blocks that meet, at least 2 (a mixed
/// radix): {4, 2} reduces eight blocks in two rounds.
using KValues = std::vector<int>;

/// Default k of merges of items and of swaps. On 1,024 simulated ranks with 4 KB to 1 MB for each
/// block its time was within 1/8 of the best k (`tributary-bench reduction --simulate 1024`), and
/// mostly so with 4 and 8 MPI ranks on two cores. See Benchmarks/README.md.
constexpr int DefaultK = 4;

/// The elements [begin, end) of a block's buffer.
struct Interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  /// The number of values; 0 if `end` is not above `begin`.
  [[nodiscard]] std::int64_t size() const { return end > begin ? end - begin : 0; }
  [[nodiscard]] bool empty() const { return end <= begin; }
};

inline bool operator==(const Interval& a, const Interval& b) {
  return a.begin == b.begin && a.end == b.end;
}

/// The communication pattern of merges and swaps: T. Peterka, R. Ross, "Versatile Communication
/// Algorithms for Data Analysis", EuroMPI 2012, LNCS 7490, section 3; for any number of blocks.
///
/// Before round 0 each block is a group. In each round k neighboring groups become one. If the
/// number of blocks is not a multiple of the group size, the last groups are smaller or missing. So
/// a group is always a range of block numbers, and combining groups in order combines blocks in
/// order.
///
/// In a merge the item of a group is at its first block. In a swap the buffer of a group is divided
/// into equal parts, one for each block. Parts are ordered by the places of their blocks before the
/// round, and for equal places by group. If all groups are full, a block's new part is within its
/// previous part, and each block exchanges with k - 1 others, as in radix-k.
class Rounds {
 public:
  /// Throws Error if the number of blocks is negative or a k is below 2.
  Rounds(std::int64_t blocks, KValues kValues);

  /// K-values that unite all blocks in one group: k in each round, less in the last one if
  /// possible. None for one block. Throws Error if k is below 2.
  [[nodiscard]] static KValues full(std::int64_t blocks, int k = DefaultK);

  /// The number of blocks.
  std::int64_t blocks() const { return blocks_; }
  /// The number of rounds.
  int count() const { return static_cast<int>(kValues_.size()); }
  /// The k-value of each round.
  const KValues& kValues() const { return kValues_; }
  /// Whether all blocks are in one group at the end.
  [[nodiscard]] bool isFull() const { return span(count()) >= blocks_; }

  // In the following, `round` is in [0, count()] and denotes the time before this round; count()
  // denotes the end.

  /// The number of blocks of each group but the last.
  std::int64_t span(int round) const { return spans_[static_cast<std::size_t>(round)]; }
  /// The first block of the group of a block.
  BlockId first(BlockId block, int round) const { return block - block % span(round); }
  /// The number of blocks of the group that starts at `first`.
  std::int64_t members(BlockId first, int round) const {
    const std::int64_t rest = blocks_ - first;
    return rest < span(round) ? rest : span(round);
  }
  /// The number of groups that meet in `round` to form the group that starts at `first`.
  int meeting(BlockId first, int round) const {
    const std::int64_t size = span(round);
    return static_cast<int>((members(first, round + 1) + size - 1) / size);
  }

  /// The round in which a group that starts at `block` becomes part of one that starts at a lower
  /// block; count() if there is none.
  int lastRound(BlockId block) const;
  /// The number of blocks that merge their groups into that of `block`, in all rounds, for which
  /// `counts(BlockId)` is true.
  template <class Counts>
  std::int64_t merging(BlockId block, Counts&& counts) const {
    std::int64_t number = 0;
    for (int round = 0; round < lastRound(block); ++round) {
      for (int group = 1; group < meeting(block, round); ++group) {
        if (counts(block + group * span(round))) ++number;
      }
    }
    return number;
  }

  /// The place of a block in its group, counted from 0: the number of its part in a swap.
  [[nodiscard]] std::int64_t place(BlockId block, int round) const;
  /// The block at a place of the group that starts at `first`.
  [[nodiscard]] BlockId blockAt(BlockId first, std::int64_t place, int round) const;
  /// The part of a block in a buffer of `length` elements.
  [[nodiscard]] Interval part(BlockId block, int round, std::int64_t length) const;
  /// The blocks whose part after `round` overlaps a block's part before it. May include the block.
  [[nodiscard]] std::vector<BlockId> receivers(BlockId block, int round, std::int64_t length) const;
  /// The blocks whose part before `round` overlaps a block's part after it. May include the block.
  [[nodiscard]] std::vector<BlockId> senders(BlockId block, int round, std::int64_t length) const;
  /// The overlap of the part of block `from` before `round` and that of block `to` after it; empty
  /// if their groups do not meet in this round.
  [[nodiscard]] Interval exchanged(BlockId from, BlockId to, int round, std::int64_t length) const;
  /// The place whose part contains an element, if `length` elements are divided among `members`
  /// blocks.
  [[nodiscard]] static std::int64_t placeOf(std::int64_t element, std::int64_t members,
                                            std::int64_t length);

 private:
  std::int64_t blocks_;
  KValues kValues_;
  std::vector<std::int64_t> spans_;
};

/// Rounds::full(), or for k below 2 a value that the constructors of reductions refuse on all
/// ranks.
[[nodiscard]] inline KValues fullOrRefused(std::int64_t blocks, int k) {
  return k < 2 ? KValues{k} : Rounds::full(blocks, k);
}

}  // namespace tributary
