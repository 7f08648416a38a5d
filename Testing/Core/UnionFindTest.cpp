#include "Tributary/Components/UnionFind.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "Threads.h"
#include "World.h"

namespace tributary::testing {
namespace {

using Edges = std::vector<std::pair<int, int>>;

/// Random edges, chains up and down, stars and a comb.
std::vector<Edges> graphs(int n) {
  std::vector<Edges> all(5);
  for (int i = 0; i < n; ++i) {
    const auto random = [&](int k) {
      return int(mix(std::uint64_t(3 * i + k)) % std::uint64_t(n));
    };
    if (i % 2) all[0].emplace_back(random(0), random(1));
    if (i > 0 && i % 97) all[1].emplace_back(i - 1, i);
    if (i > 0) all[2].emplace_back(n - i, n - i - 1);
    all[3].emplace_back(n - 1 - i % 3, i / 2);
    if (i % 10 && i >= 10) all[4].emplace_back(i, i - (i % 3 ? 10 : 1));
  }
  return all;
}

/// Set numbers by repeated sweeps: each element takes the least label of its neighbours.
std::vector<int> expected(int n, const Edges& edges) {
  std::vector<int> label(std::size_t(n), 0);
  std::iota(label.begin(), label.end(), 0);
  for (bool changed = true; changed;) {
    changed = false;
    const auto sweep = [&](const std::pair<int, int>& edge) {
      int &a = label[std::size_t(edge.first)], &b = label[std::size_t(edge.second)];
      changed = changed || a != b;
      a = b = std::min(a, b);
    };
    std::for_each(edges.begin(), edges.end(), sweep);
    std::for_each(edges.rbegin(), edges.rend(), sweep);
  }
  std::vector<int> number(std::size_t(n), -1);
  int next = 0;
  for (int& root : label) {
    int& name = number[std::size_t(root)];
    if (name < 0) name = next++;
    root = name;
  }
  return label;
}

template <class Index>
void testAll() {
  for (const int n : {1, 2, 500, 3000})
    for (const Edges& edges : graphs(n)) {
      const auto want = expected(n, edges);
      const auto sets = std::size_t(*std::max_element(want.begin(), want.end()) + 1);
      for (const bool concurrent : {false, true}) {
        UnionFind<Index> unions(static_cast<std::size_t>(n));
        std::int64_t merges = 0;
        const auto unite = [&](std::int64_t begin, std::int64_t end) {
          std::int64_t mine = 0;
          for (auto i = begin; i < end; ++i) {
            const auto a = Index(edges[std::size_t(i)].first),
                       b = Index(edges[std::size_t(i)].second);
            mine += concurrent ? unions.uniteConcurrently(a, b) : unions.unite(a, b);
          }
          __atomic_fetch_add(&merges, mine, __ATOMIC_RELAXED);
        };
        const auto loop = concurrent ? onThreads(4, 64) : ParallelFor(serialFor);
        loop(std::int64_t(edges.size()), unite);
        EXPECT_EQ(std::size_t(n - merges), sets);
        std::vector<int> first(sets, -1);
        for (int i = 0; i < n; ++i) {
          int& least = first[std::size_t(want[std::size_t(i)])];
          if (least < 0) least = i;
          ASSERT_EQ(unions.find(Index(i)), Index(least)) << "roots are the least elements";
        }
        std::size_t count = 0;
        const auto number = std::move(unions).number(count);
        EXPECT_EQ(count, sets);
        EXPECT_TRUE(std::equal(want.begin(), want.end(), number.begin(), number.end(),
                               [](int a, Index b) { return Index(a) == b; }));
      }
    }
}

TEST(UnionFind, EqualsLabelSweeps32) {
  testAll<std::uint32_t>();
}

TEST(UnionFind, EqualsLabelSweeps64) {
  testAll<std::int64_t>();
}

TEST(UnionFind, UnitesAllEdges) {
  for (const int n : {2, 3000})
    for (const Edges& edges : graphs(n)) {
      std::vector<UnionFind<std::uint32_t>::Edge> all(edges.begin(), edges.end());
      const auto want = expected(n, edges);
      for (const auto& loop : {ParallelFor(serialFor), onThreads(4, 4), onThreads(3, 100)}) {
        UnionFind<std::uint32_t> unions(static_cast<std::size_t>(n));
        const auto merged = unions.uniteAll(all, loop);
        std::size_t sets = 0;
        const auto number = std::move(unions).number(sets);
        EXPECT_EQ(merged + std::int64_t(sets), n);
        EXPECT_TRUE(std::equal(want.begin(), want.end(), number.begin(), number.end(),
                               [](int a, std::uint32_t b) { return std::uint32_t(a) == b; }));
      }
    }
}

/// Many threads on the same few sets: every union must be counted once.
TEST(UnionFind, CountsEachMergeOnceUnderContention) {
  for (int round = 0; round < 50; ++round) {
    constexpr std::int64_t kElements = 64, kUnions = 4000;
    UnionFind<std::uint32_t> unions(kElements);
    std::int64_t merges = 0;
    onThreads(4, 4)(kUnions, [&](std::int64_t begin, std::int64_t end) {
      for (auto i = begin; i < end; ++i) {
        const auto random = mix(std::uint64_t(i + round * kUnions));
        if (unions.uniteConcurrently(std::uint32_t(random % kElements),
                                     std::uint32_t((random >> 32) % kElements)))
          __atomic_fetch_add(&merges, 1, __ATOMIC_RELAXED);
      }
    });
    EXPECT_EQ(merges, kElements - 1);
    for (std::uint32_t i = 0; i < kElements; ++i) EXPECT_EQ(unions.find(i), 0u);
  }
}

}  // namespace
}  // namespace tributary::testing
