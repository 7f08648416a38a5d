// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Tributary/Base/Index.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Global number of a block, in [0, Assignment::total()).
using BlockId = std::int64_t;

/// How far a block is behind a rank's first one. Defined for any number, as a malformed message may
/// have: the block is the rank's if the result is less than the number of its blocks.
[[nodiscard]] inline std::uint64_t offsetOf(BlockId block, BlockId first) {
  return static_cast<std::uint64_t>(block) - static_cast<std::uint64_t>(first);
}

/// The assignment of blocks to ranks. Each rank owns a contiguous range of block numbers, in the
/// order of ranks. A rank may own no blocks.
class Assignment {
 public:
  /// Throws Error if a count is negative.
  /// @param counts  the number of blocks of each rank
  explicit Assignment(const std::vector<std::int64_t>& counts);
  /// Makes the assignment from the number of blocks of each rank. Collective.
  [[nodiscard]] static Assignment gather(Transport& transport, std::int64_t localCount);

  /// The number of ranks.
  int ranks() const { return static_cast<int>(first_.size()) - 1; }
  /// The number of blocks.
  std::int64_t total() const { return first_.back(); }
  /// The first block of a rank. If the rank has no blocks, the first block of a higher rank, or
  /// total().
  BlockId first(int rank) const { return first_[index(rank)]; }
  /// The number of blocks of a rank.
  std::int64_t count(int rank) const { return first(rank + 1) - first(rank); }
  /// Whether a block number is valid.
  [[nodiscard]] bool exists(BlockId block) const { return block >= 0 && block < total(); }
  /// Whether each rank has the same blocks.
  bool operator==(const Assignment& other) const { return first_ == other.first_; }
  /// The rank that owns a block. Throws Error if the block does not exist.
  [[nodiscard]] int rankOf(BlockId block) const;

 private:
  std::vector<BlockId> first_;  // by rank; the additional last entry is the total
};

}  // namespace tributary
