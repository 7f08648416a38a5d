// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace tributary {

/// An axis-aligned box, empty if lo > hi. Default: empty.
struct Box {
  std::array<double, 3> lo{{1, 1, 1}}, hi{{-1, -1, -1}};
  [[nodiscard]] bool empty() const { return lo[0] > hi[0]; }
  /// Whether a point is in the box, its boundary included.
  [[nodiscard]] bool contains(const double p[3]) const {
    return p[0] >= lo[0] && p[0] <= hi[0] && p[1] >= lo[1] && p[1] <= hi[1] && p[2] >= lo[2] &&
           p[2] <= hi[2];
  }
  /// Whether another box, which is not empty, is in the box, boundaries included.
  [[nodiscard]] bool contains(const Box& other) const {
    return contains(other.lo.data()) && contains(other.hi.data());
  }
};

/// Whether two boxes have a point in common, on their boundaries included. False for boxes with
/// coordinates that are no numbers.
[[nodiscard]] inline bool intersects(const Box& one, const Box& other) {
  for (std::size_t a = 0; a < 3; ++a) {
    if (!(one.lo[a] <= one.hi[a] && other.lo[a] <= other.hi[a])) return false;
    if (!(one.lo[a] <= other.hi[a] && other.lo[a] <= one.hi[a])) return false;
  }
  return true;
}

/// Enlarges a box to hold another one, which is not empty.
inline void include(Box& box, const Box& other) {
  if (box.empty()) {
    box = other;
    return;
  }
  for (std::size_t a = 0; a < 3; ++a) {
    box.lo[a] = std::min(box.lo[a], other.lo[a]);
    box.hi[a] = std::max(box.hi[a], other.hi[a]);
  }
}

/// Restricts a box of indices, given by its corners, to another one. Serves half-open boxes and
/// boxes that include their last corner.
inline void intersect(std::array<std::int64_t, 3>& low, std::array<std::int64_t, 3>& high,
                      const std::array<std::int64_t, 3>& otherLow,
                      const std::array<std::int64_t, 3>& otherHigh) {
  for (std::size_t a = 0; a < 3; ++a) {
    low[a] = std::max(low[a], otherLow[a]);
    high[a] = std::min(high[a], otherHigh[a]);
  }
}

}  // namespace tributary
