// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Global number of a block: 0 to Assignment::total() - 1.
using BlockId = std::int64_t;

/// Which rank owns which blocks: a contiguous range of numbers per rank, in rank order; a rank may
/// own none.
class Assignment {
 public:
  /// @param counts  number of blocks of each rank. Throws Error if one is negative.
  explicit Assignment(const std::vector<std::int64_t>& counts);
  /// Collective: every rank says how many blocks it has.
  static Assignment gather(Transport& transport, std::int64_t localCount);

  /// Number of ranks.
  int ranks() const { return static_cast<int>(first_.size()) - 1; }
  std::int64_t total() const { return first_.back(); }
  BlockId first(int rank) const { return first_[static_cast<std::size_t>(rank)]; }
  std::int64_t count(int rank) const { return first(rank + 1) - first(rank); }
  bool exists(BlockId block) const { return block >= 0 && block < total(); }
  /// The owner. Throws Error if there is no such block.
  int rankOf(BlockId block) const;

 private:
  std::vector<BlockId> first_;  // one more than ranks: the last is the total
};

}  // namespace tributary
