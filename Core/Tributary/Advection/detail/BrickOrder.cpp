// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/detail/BrickOrder.h"

#include <algorithm>

namespace tributary::detail {

BrickOrder::BrickOrder(const StructuredCells& grid) : cells_(grid.cells()) {
  for (std::int64_t size = 1; size < Size; size *= 2) {
    // Doubles the shortest edge along which a brick is divided from others, if there is one.
    std::size_t shortest = 0;
    for (std::size_t a = 1; a < 3; ++a) {
      const bool divides = cells_[a] > edges_[a], other = cells_[shortest] > edges_[shortest];
      if (divides && (!other || edges_[a] < edges_[shortest])) shortest = a;
    }
    edges_[shortest] *= 2;
  }
  for (std::size_t a = 0; a < 3; ++a) bricks_[a] = (cells_[a] + edges_[a] - 1) / edges_[a];
}

Brick BrickOrder::brickAt(std::int64_t number) const {
  Brick brick{beginOf(number), {}};
  for (std::size_t a = 0; a < 3; ++a)
    brick.end[a] = std::min(brick.begin[a] + edges_[a], cells_[a]);
  return brick;
}

std::int64_t BrickOrder::cellAt(std::int64_t slot) const {
  const std::int64_t brick = slot / Size, inBrick = slot % Size;
  std::array<std::int64_t, 3> at = beginOf(brick);
  at[0] += inBrick % edges_[0];
  at[1] += inBrick / edges_[0] % edges_[1];
  at[2] += inBrick / (edges_[0] * edges_[1]);
  for (std::size_t a = 0; a < 3; ++a)
    if (at[a] >= cells_[a]) return -1;
  return (at[2] * cells_[1] + at[1]) * cells_[0] + at[0];
}

}  // namespace tributary::detail
