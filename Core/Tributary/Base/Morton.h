// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace tributary {

/// Place of a point along a Morton curve through the box [lo, hi]: 20 bits of each coordinate,
/// interleaved. Points that are close on the curve are close in space, and so in memory if stored
/// in this order.
[[nodiscard]] inline std::uint64_t mortonCode(const double lo[3], const double hi[3],
                                              const double x[3]) {
  constexpr double Top = (1 << 20) - 1;
  std::uint64_t code = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    const double u = hi[a] > lo[a] ? (x[a] - lo[a]) / (hi[a] - lo[a]) * Top : 0;
    auto v = static_cast<std::uint64_t>(u > 0 ? (u < Top ? u : Top) : 0);
    v = (v | (v << 32)) & 0x001f00000000ffffull;
    v = (v | (v << 16)) & 0x001f0000ff0000ffull;
    v = (v | (v << 8)) & 0x100f00f00f00f00full;
    v = (v | (v << 4)) & 0x10c30c30c30c30c3ull;
    v = (v | (v << 2)) & 0x1249249249249249ull;
    code |= v << a;
  }
  return code;
}

}  // namespace tributary
