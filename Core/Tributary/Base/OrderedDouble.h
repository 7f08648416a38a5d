// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>

namespace tributary {

/// Maps a double to an integer so that integers are ordered like doubles. NaN is greater than
/// +infinity, or less than -infinity if its sign bit is set. -0 is less than +0.
[[nodiscard]] inline std::int64_t orderedInteger(double value) {
  std::int64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits < 0 ? bits ^ std::numeric_limits<std::int64_t>::max() : bits;
}

/// The inverse of orderedInteger().
[[nodiscard]] inline double fromOrderedInteger(std::int64_t order) {
  const std::int64_t bits = order < 0 ? order ^ std::numeric_limits<std::int64_t>::max() : order;
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace tributary
