// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "Tributary/Collective/Assignment.h"

namespace tributary::detail {

/// How far a block is behind a rank's first one. Defined for any number, as a malformed message may
/// have: the block is the rank's if the result is less than the number of its blocks.
inline std::uint64_t offsetOf(BlockId block, BlockId first) {
  return static_cast<std::uint64_t>(block) - static_cast<std::uint64_t>(first);
}

}  // namespace tributary::detail
