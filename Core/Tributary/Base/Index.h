// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "Tributary/Base/Span.h"

namespace tributary {

/// Converts a number to an index into a container. @pre number >= 0
[[nodiscard]] constexpr std::size_t index(std::int64_t number) {
  return static_cast<std::size_t>(number);
}

/// Whether all numbers are at least 0 and below `count`. Takes a fraction of the time of a look at
/// each of them. @pre count >= 0
template <class Integer>
[[nodiscard]] bool areIndices(Span<const Integer> numbers, std::int64_t count) {
  const auto last = static_cast<std::uint64_t>(count) - 1;
  std::uint64_t signs = 0;  // the highest bit: that of a number, or of its distance to the last one
  for (const Integer number : numbers) {
    const auto n = static_cast<std::uint64_t>(std::int64_t{number});
    signs |= n | (last - n);
  }
  return signs >> 63 == 0;
}

}  // namespace tributary
