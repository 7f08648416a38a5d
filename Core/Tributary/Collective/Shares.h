// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tributary {

/// A partition of the indices [0, total) into one contiguous range for each rank. The sizes of the
/// ranges differ by at most 1.
struct Shares {
  std::int64_t total = 0;  ///< number of indices
  int ranks = 1;           ///< number of ranges

  /// The first index of a rank.
  std::int64_t first(int rank) const {
    return static_cast<std::int64_t>(static_cast<__int128>(total) * rank / ranks);
  }
  /// The number of indices of a rank.
  std::int64_t count(int rank) const { return first(rank + 1) - first(rank); }
  /// The rank that owns an index. @pre 0 <= index < total
  [[nodiscard]] int ownerOf(std::int64_t index) const {
    return static_cast<int>((static_cast<__int128>(index + 1) * ranks - 1) / total);
  }
};

}  // namespace tributary
