// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Base/Box.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace tributary {
namespace {

using Corner = std::array<std::int64_t, 3>;

TEST(Box, IntersectionsHaveTheIndicesOfBoth) {
  const Corner lows[] = {{0, 0, 0}, {-2, 1, 3}, {2, 2, 2}, {5, -4, 0}};
  const Corner highs[] = {{4, 4, 4}, {3, 2, 3}, {2, 2, 2}, {9, 9, 1}};
  const auto isIn = [](std::int64_t x, const Corner& low, const Corner& high, std::size_t a) {
    return x >= low[a] && x <= high[a];
  };
  for (std::size_t n = 0; n < 4; ++n)
    for (std::size_t m = 0; m < 4; ++m) {
      Corner low = lows[n], high = highs[n];
      intersect(low, high, lows[m], highs[m]);
      for (std::size_t a = 0; a < 3; ++a)
        for (std::int64_t x = -6; x <= 10; ++x)
          EXPECT_EQ(isIn(x, low, high, a),
                    isIn(x, lows[n], highs[n], a) && isIn(x, lows[m], highs[m], a))
              << n << " and " << m << ", axis " << a << ", " << x;
    }
}

TEST(Box, BoxesMeetInAFaceButNotInNothing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Box unit{{0, 0, 0}, {1, 1, 1}};
  EXPECT_TRUE(intersects(unit, unit));
  EXPECT_TRUE(intersects(unit, {{-1, -1, -1}, {2, 2, 2}}));
  EXPECT_TRUE(intersects({{0.2, 0.2, 0.2}, {0.3, 0.3, 0.3}}, unit));
  for (std::size_t a = 0; a < 3; ++a) {
    Box beside = unit;
    beside.lo[a] = 1;
    beside.hi[a] = 2;
    EXPECT_TRUE(intersects(unit, beside)) << a;
    beside.lo[a] = std::nextafter(1.0, 2.0);
    EXPECT_FALSE(intersects(unit, beside)) << a;
    EXPECT_FALSE(intersects(beside, unit)) << a;
    Box unknown = unit;
    unknown.hi[a] = nan;
    EXPECT_FALSE(intersects(unit, unknown)) << a;
    EXPECT_FALSE(intersects(unknown, unit)) << a;
  }
  EXPECT_FALSE(intersects(unit, {}));
  EXPECT_FALSE(intersects({}, {{-2, -2, -2}, {2, 2, 2}}));
}

}  // namespace
}  // namespace tributary
