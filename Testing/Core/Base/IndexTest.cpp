// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Base/Index.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace tributary::testing {
namespace {

template <class Integer>
void expectIndices() {
  constexpr Integer Least = std::numeric_limits<Integer>::min(),
                    Most = std::numeric_limits<Integer>::max();
  const auto are = [](std::vector<Integer> numbers, std::int64_t count) {
    return areIndices(Span<const Integer>(numbers), count);
  };
  EXPECT_TRUE(are({}, 0));
  EXPECT_TRUE(are({}, 5));
  EXPECT_TRUE(are({0, 4, 2}, 5));
  EXPECT_TRUE(are({0, Most - 1}, Most));
  for (const Integer wrong : {Integer(-1), Integer(5), Least, Most, Integer(Least + 5)})
    for (const std::int64_t count : {0, 1, 5}) EXPECT_FALSE(are({0, 4, wrong, 1}, count)) << wrong;
  EXPECT_FALSE(are({0}, 0));
  EXPECT_FALSE(are({Most}, Most));
}

TEST(Index, NumbersBelowACountAreIndices) {
  expectIndices<std::int32_t>();
  expectIndices<std::int64_t>();
  expectIndices<long long>();
}

}  // namespace
}  // namespace tributary::testing
