// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tributary {

/// [0, total) cut into one contiguous range per rank, of sizes that differ by one at most.
struct Shares {
  std::int64_t total = 0;
  int ranks = 1;

  std::int64_t first(int rank) const {
    return static_cast<std::int64_t>(static_cast<__int128>(total) * rank / ranks);
  }
  std::int64_t count(int rank) const { return first(rank + 1) - first(rank); }
  /// @pre 0 <= index < total
  int ownerOf(std::int64_t index) const {
    return static_cast<int>((static_cast<__int128>(index + 1) * ranks - 1) / total);
  }
};

}  // namespace tributary
