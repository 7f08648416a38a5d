// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Base/Span.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace tributary::testing {
namespace {

/// Checks all runs of random values against a comparison of neighbors.
template <class Value>
void expectRuns(std::size_t count, double changes, std::mt19937& random) {
  std::uniform_real_distribution<double> chance(0, 1);
  std::vector<Value> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(i > 0 && chance(random) >= changes ? values.back()
                                                        : static_cast<Value>(random() % 3) - 1);
  for (std::size_t begin = 0; begin < count; ++begin) {
    std::size_t end = begin + 1;
    while (end < count && values[end] == values[begin]) ++end;
    ASSERT_EQ(endOfRun(Span<const Value>(values), begin), end)
        << "from " << begin << " of " << count;
  }
}

TEST(Span, RunsEndWhereValuesChange) {
  std::mt19937 random(1);
  for (const double changes : {0.0, 0.01, 0.1, 1.0})
    for (std::size_t count = 1; count < 100; ++count) {
      expectRuns<std::int64_t>(count, changes, random);
      expectRuns<std::uint32_t>(count, changes, random);
      expectRuns<std::uint8_t>(count, changes, random);
    }
}

}  // namespace
}  // namespace tributary::testing
