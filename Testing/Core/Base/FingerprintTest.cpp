// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Base/Fingerprint.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "Support/Threads.h"

namespace tributary::testing {
namespace {

Fingerprint of(const std::vector<std::vector<std::int64_t>>& arrays) {
  Fingerprint print;
  for (const auto& array : arrays) print.add(Span<const std::int64_t>(array));
  return print;
}

TEST(Fingerprint, DependsOnEachValueAndOnTheDivisionIntoArrays) {
  std::vector<std::int64_t> values(1000);
  for (std::size_t n = 0; n < values.size(); ++n) values[n] = std::int64_t(n * n);
  const Fingerprint print = of({values});
  EXPECT_EQ(print, of({values}));
  for (const std::size_t n : {0, 1, 500, 998, 999}) {
    auto changed = values;
    ++changed[n];
    EXPECT_NE(print, of({changed})) << n;
  }
  auto shorter = values;
  shorter.pop_back();
  EXPECT_NE(print, of({shorter}));
  EXPECT_NE(print, of({values, {}}));
  EXPECT_NE(of({{1}, {2, 3}}), of({{1, 2}, {3}}));
  EXPECT_NE(of({{1}, {2}}), of({{2}, {1}}));
  EXPECT_NE(print, Fingerprint());
}

TEST(Fingerprint, IsTheSameOnAnyNumberOfThreads) {
  std::vector<std::int64_t> values(700001);  // several parts
  for (std::size_t n = 0; n < values.size(); ++n) values[n] = std::int64_t(n * n);
  const auto on = [&](const ParallelFor& loop) {
    Fingerprint print;
    print.add(Span<const std::int64_t>(values), loop);
    return print;
  };
  const Fingerprint print = on(serialFor);
  EXPECT_EQ(print, of({values}));
  for (const auto& loop : {onThreads(2, 2), onThreads(3, 50)}) EXPECT_EQ(print, on(loop));
  for (const std::size_t n : {0, 131071, 131072, 400000, 700000}) {
    ++values[n];
    EXPECT_NE(print, on(onThreads(3, 4))) << n;
    --values[n];
  }
}

}  // namespace
}  // namespace tributary::testing
