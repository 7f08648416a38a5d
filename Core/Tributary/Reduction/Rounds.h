// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "Tributary/Collective/Assignment.h"

namespace tributary {

/// For each round of a reduction, how many groups of blocks meet in it. Products of any numbers of
/// at least 2 ("mixed radix"): 4, 2 reduces eight blocks in two rounds.
using KValues = std::vector<int>;

/// For those who do not tune: the best k of merges of items and of swaps, or within an eighth of
/// it, on 1,024 simulated ranks from 4 KB to 1 MB a block (`tributary-bench reduction --simulate
/// 1024`), and mostly on 4 and 8 ranks of MPI on two cores. More in Benchmarks/README.md.
constexpr int DefaultK = 4;

/// Elements [begin, end) of a block's buffer.
struct Interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return end > begin ? end - begin : 0; }
  bool empty() const { return end <= begin; }
};

inline bool operator==(const Interval& a, const Interval& b) {
  return a.begin == b.begin && a.end == b.end;
}

/// Who meets whom in which round of a merge or a swap (T. Peterka, R. Ross, "Versatile
/// Communication Algorithms for Data Analysis", section 3), for any number of blocks.
///
/// Before round 0 each block is a group of its own; in each round k neighboring groups become one,
/// the last of which may be missing or smaller where the number of blocks is no multiple. So a
/// group is always a range of block ids, and combining groups in order combines blocks in order.
///
/// In a merge a group's item is at its first block. In a swap a group's buffer is cut into as many
/// equal parts as it has blocks. The order of the parts is that of the places that blocks had
/// before the round, and among equal ones that of the groups: where all groups are full, a block's
/// new part lies in its old one, and each block exchanges with k - 1 others, as in radix-k.
class Rounds {
 public:
  /// Throws Error if there is a negative number of blocks or a k below 2.
  Rounds(std::int64_t blocks, KValues kValues);

  /// k, k, ... until all blocks are one group; none for one block.
  static KValues full(std::int64_t blocks, int k = DefaultK);

  std::int64_t blocks() const { return blocks_; }
  int count() const { return static_cast<int>(kValues_.size()); }
  const KValues& kValues() const { return kValues_; }
  /// Whether all blocks are one group in the end.
  bool isFull() const { return span(count()) >= blocks_; }

  // In the following, `round` counts from 0 and speaks of the time before that round; count() is
  // the end.

  /// Blocks of a group that is not the last.
  std::int64_t span(int round) const { return spans_[static_cast<std::size_t>(round)]; }
  /// The first block of a block's group.
  BlockId first(BlockId block, int round) const { return block - block % span(round); }
  /// Blocks of the group that begins at `first`.
  std::int64_t members(BlockId first, int round) const {
    const std::int64_t rest = blocks_ - first;
    return rest < span(round) ? rest : span(round);
  }
  /// How many groups meet in `round` in the group that begins at `first` after it.
  int meeting(BlockId first, int round) const {
    const std::int64_t size = span(round);
    return static_cast<int>((members(first, round + 1) + size - 1) / size);
  }

  /// The round in which a group that begins at `block` becomes part of one that begins earlier;
  /// count() if that is in none.
  int lastRound(BlockId block) const;
  /// How many blocks merge their groups into that of `block`, in all rounds together, counting
  /// those for which `counts` is true.
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

  /// A block's place in its group, from 0: its part of the buffer in a swap.
  std::int64_t place(BlockId block, int round) const;
  /// The block at a place of the group that begins at `first`.
  BlockId blockAt(BlockId first, std::int64_t place, int round) const;
  /// A block's part of a buffer of `length` elements.
  Interval part(BlockId block, int round, std::int64_t length) const;
  /// The blocks whose part after `round` has elements of a block's part before it, and those whose
  /// part before it has elements of the block's part after it; the block itself may be among them.
  std::vector<BlockId> receivers(BlockId block, int round, std::int64_t length) const;
  std::vector<BlockId> senders(BlockId block, int round, std::int64_t length) const;
  /// What block `from` has before `round` and block `to` after it; nothing if their groups do not
  /// meet in it.
  Interval exchanged(BlockId from, BlockId to, int round, std::int64_t length) const;
  /// The place whose part of `length` elements, cut for `members` blocks, holds an element.
  static std::int64_t placeOf(std::int64_t element, std::int64_t members, std::int64_t length);

 private:
  std::int64_t blocks_;
  KValues kValues_;
  std::vector<std::int64_t> spans_;
};

/// Rounds::full(), or for an impossible k what makes all ranks refuse it together.
inline KValues fullOrRefused(std::int64_t blocks, int k) {
  return k < 2 ? KValues{k} : Rounds::full(blocks, k);
}

}  // namespace tributary
