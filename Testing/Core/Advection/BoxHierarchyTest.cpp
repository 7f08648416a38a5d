// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/detail/BoxHierarchy.h"

#include <gtest/gtest.h>

#include <vector>

#include "Support/World.h"

namespace tributary::testing {

using detail::BoxHierarchy;

namespace {

double random(std::uint64_t n) {
  return double(mix(n) >> 11) / double(1ull << 53);
}

/// Boxes along a line; each ninth one is empty.
std::vector<Box> makeBoxes(std::size_t count) {
  std::vector<Box> boxes(count);
  for (std::size_t n = 0; n < count; ++n)
    for (std::size_t a = 0; a < 3 && n % 9 != 4; ++a) {
      boxes[n].lo[a] = a == 0 ? double(n) - random(4 * n) : -1;
      boxes[n].hi[a] = a == 0 ? double(n) + 2 * random(4 * n + 1) : random(4 * n + a);
    }
  return boxes;
}

TEST(BoxHierarchy, FindsTheBoxesThatContainAPointOrABoxWithFewTests) {
  for (const std::size_t count : {0, 1, 7, 8, 9, 64, 65, 1000}) {
    const std::vector<Box> boxes = makeBoxes(count);
    const BoxHierarchy hierarchy(boxes);
    EXPECT_EQ(hierarchy.boxes().size(), count);
    EXPECT_GE(hierarchy.memory(), count * sizeof(Box));
    std::size_t tested = 0, all = 0, inside = 0;
    for (std::uint64_t p = 0; p < 200; ++p) {
      const double point[3] = {double(count) * (1.2 * random(1000 + p) - 0.1), 0, random(p)};
      std::vector<std::size_t> found, expected;
      tested += hierarchy.forEachAt(point, [&](std::size_t n) { found.push_back(n); });
      all += count;
      for (std::size_t n = 0; n < count; ++n)
        if (boxes[n].contains(point)) expected.push_back(n);
      EXPECT_EQ(found, expected);
      const Box inner{{{point[0], 0, point[2]}}, {{point[0] + 0.7, 0, point[2] + 0.1}}};
      found.clear();
      expected.clear();
      tested += hierarchy.forEachAt(inner, [&](std::size_t n) { found.push_back(n); });
      all += count;
      for (std::size_t n = 0; n < count; ++n)
        if (boxes[n].contains(inner.lo.data()) && boxes[n].contains(inner.hi.data()))
          expected.push_back(n);
      EXPECT_EQ(found, expected);
      inside += found.size();
    }
    if (count == 1000) {
      EXPECT_LT(tested, all / 20);
      EXPECT_GT(inside, 20u);
    }
  }
  const double point[3] = {0, 0, 0};
  EXPECT_EQ(BoxHierarchy().forEachAt(point, [](std::size_t) { FAIL(); }), 0u);
  EXPECT_TRUE(BoxHierarchy().boxes().empty());
}

}  // namespace
}  // namespace tributary::testing
