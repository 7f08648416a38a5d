// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/detail/BrickOrder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "Tributary/Base/StructuredCells.h"

namespace tributary::detail {
namespace {

using Counts = std::array<std::int64_t, 3>;

TEST(BrickOrder, HasEachCellOnce) {
  for (const Counts& points : {Counts{6, 5, 4}, Counts{9, 1, 1}, Counts{1, 1, 1}, Counts{8, 5, 1},
                               Counts{1, 10, 4}, Counts{2, 3, 12}, Counts{3, 3, 3}}) {
    const StructuredCells grid(points);
    const BrickOrder order(grid);
    std::vector<std::int64_t> cells, all(std::size_t(grid.cellCount()));
    for (std::int64_t number = 0; number < order.bricks(); ++number) {
      const Brick brick = order.brickAt(number);
      std::vector<std::int64_t> inBrick, atSlots;
      order.forEachCell(brick, [&](std::int64_t cell) { inBrick.push_back(cell); });
      for (std::int64_t n = 0; n < BrickOrder::Size; ++n) {
        const std::int64_t cell = order.cellAt(number * BrickOrder::Size + n);
        if (cell >= 0) atSlots.push_back(cell);
      }
      EXPECT_EQ(inBrick, atSlots);
      EXPECT_FALSE(inBrick.empty());
      cells.insert(cells.end(), inBrick.begin(), inBrick.end());
    }
    std::sort(cells.begin(), cells.end());
    std::iota(all.begin(), all.end(), std::int64_t{0});
    EXPECT_EQ(cells, all);
  }
}

TEST(BrickOrder, HasFewSlotsWithoutACell) {
  EXPECT_EQ(BrickOrder(StructuredCells(Counts{9, 9, 9})).bricks(), 64);
  EXPECT_EQ(BrickOrder(StructuredCells(Counts{17, 9, 1})).bricks(), 16);
  EXPECT_EQ(BrickOrder(StructuredCells(Counts{2, 9, 17})).bricks(), 16);
  EXPECT_EQ(BrickOrder(StructuredCells(Counts{1, 1, 33})).bricks(), 4);
}

}  // namespace
}  // namespace tributary::detail
