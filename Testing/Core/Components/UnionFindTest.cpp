// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Components/UnionFind.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "Support/Threads.h"
#include "Support/World.h"
#include "Tributary/Transport/detail/Fiber.h"

namespace tributary::testing {

using namespace detail;
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

/// Set numbers by repeated sweeps: each element takes the least label of its neighbors.
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
      // At once, and in two halves: the second one meets parents outside a thread's own elements.
      for (const auto& loop : {ParallelFor(serialFor), onThreads(4, 4), onThreads(3, 100)})
        for (const std::size_t cut : {std::size_t(0), all.size() / 2}) {
          UnionFind<std::uint32_t> unions(static_cast<std::size_t>(n));
          const Span<const UnionFind<std::uint32_t>::Edge> edgeSpan(all);
          const auto merged = unions.uniteAll(edgeSpan.subspan(0, cut), loop) +
                              unions.uniteAll(edgeSpan.subspan(cut, all.size() - cut), loop);
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
    constexpr std::int64_t Elements = 64, Unions = 4000;
    UnionFind<std::uint32_t> unions(Elements);
    std::int64_t merges = 0;
    onThreads(4, 4)(Unions, [&](std::int64_t begin, std::int64_t end) {
      for (auto i = begin; i < end; ++i) {
        const auto random = mix(std::uint64_t(i + round * Unions));
        if (unions.uniteConcurrently(std::uint32_t(random % Elements),
                                     std::uint32_t((random >> 32) % Elements)))
          __atomic_fetch_add(&merges, 1, __ATOMIC_RELAXED);
      }
    });
    EXPECT_EQ(merges, Elements - 1);
    for (std::uint32_t i = 0; i < Elements; ++i) EXPECT_EQ(unions.find(i), 0u);
  }
}

/// Two threads that take turns at every access to memory, as a schedule says.
class TurnTaking {
 public:
  using Pairs = std::vector<std::pair<int, int>>;

  struct Access {
    static int load(const int* at) {
      waitForTurn();
      return *at;
    }
    static void store(int* at, int value) {
      waitForTurn();
      *at = value;
    }
    static bool replace(int* at, int old, int young) {
      waitForTurn();
      if (*at != old) return false;
      *at = young;
      return true;
    }
  };

  TurnTaking() {
    for (int t = 0; t < 2; ++t)
      threads_.push_back(std::make_unique<Fiber>([this, t] { work(t); }, 64 << 10));
  }
  ~TurnTaking() {
    stopped_ = true;
    for (auto& thread : threads_)
      while (!thread->finished()) thread->resume();
  }

  /// Unites the pairs of both threads; `next` says which thread makes the next access (0 or 1) as
  /// long as both have some to make.
  template <class Next>
  void unite(std::vector<int>& parents, const std::array<Pairs, 2>& pairs, Next&& next) {
    parents_ = parents.data();
    pairs_ = &pairs;
    busy_ = {true, true};
    current = this;
    while (busy_[0] || busy_[1]) {
      running_ = busy_[0] && busy_[1] ? next() : busy_[1];
      threads_[std::size_t(running_)]->resume();
    }
  }

 private:
  static void waitForTurn() { current->threads_[std::size_t(current->running_)]->yield(); }

  void work(int t) {
    while (!stopped_) {
      for (const auto& [a, b] : (*pairs_)[std::size_t(t)])
        UnionFind<int>::uniteConcurrently<Access>(parents_, a, b);
      busy_[std::size_t(t)] = false;
      threads_[std::size_t(t)]->yield();
    }
  }

  static TurnTaking* current;
  std::vector<std::unique_ptr<Fiber>> threads_;
  int* parents_ = nullptr;
  const std::array<Pairs, 2>* pairs_ = nullptr;
  std::array<bool, 2> busy_{};
  int running_ = 0;
  bool stopped_ = false;
};

TurnTaking* TurnTaking::current = nullptr;

/// The roots after uniting everything one after the other, which no schedule may change.
std::vector<int> rootsOf(std::vector<int> parents, const std::array<TurnTaking::Pairs, 2>& pairs) {
  for (const auto& list : pairs)
    for (const auto& [a, b] : list) UnionFind<int>::unite(parents.data(), a, b);
  for (int& parent : parents) parent = parents[std::size_t(parent)];
  return parents;
}

/// Both threads find 3 a root; thread 0 links it to 1, and thread 1 must not link it to 0 then: 1
/// would be cut off.
TEST(UnionFind, ARootIsLinkedOnce) {
  TurnTaking turns;
  const std::array<TurnTaking::Pairs, 2> pairs{{{{3, 1}}, {{3, 0}}}};
  std::vector<int> parents{0, 1, 2, 3};
  const auto want = rootsOf(parents, pairs);
  // Each thread begins with a turn that brings it to its first access, and reads two parents.
  const std::string schedule =
      "01"
      "00"
      "11"
      "0"
      "1";
  std::size_t turn = 0;
  turns.unite(parents, pairs, [&] { return turn < schedule.size() ? schedule[turn++] - '0' : 0; });
  EXPECT_EQ(rootsOf(parents, {}), want);
}

/// A path split by parents read long ago takes back what the other thread has done since.
TEST(UnionFind, ASplitThatComesLateLosesNothing) {
  TurnTaking turns;
  const std::array<TurnTaking::Pairs, 2> pairs{{{{6, 0}}, {{6, 0}, {2, 0}, {6, 1}}}};
  for (int late = 0; late < 40; ++late) {
    std::vector<int> parents{0, 1, 2, 2, 3, 4, 5};
    const auto want = rootsOf(parents, pairs);
    int turn = 0;  // thread 0 reads 6 and 0, then splits in the midst of what thread 1 does
    turns.unite(parents, pairs, [&] {
      ++turn;
      return turn <= 4 ? 0 : turn <= 4 + late ? 1 : 0;
    });
    EXPECT_EQ(rootsOf(parents, {}), want) << late;
  }
}

TEST(UnionFind, NoScheduleOfTwoThreadsLosesAUnion) {
  TurnTaking turns;
  std::uint64_t seed = 0;
  const auto random = [&](int below) { return int(mix(++seed) % std::uint64_t(below)); };
  for (int round = 0; round < 20000; ++round) {
    const int n = 4 + random(4);
    std::vector<int> parents(std::size_t(n), 0);
    for (int i = 0; i < n; ++i) parents[std::size_t(i)] = random(3) ? i : random(i + 1);
    std::array<TurnTaking::Pairs, 2> pairs;
    for (auto& list : pairs)
      for (int k = 0; k < 3; ++k) list.emplace_back(random(n), random(n));
    const auto want = rootsOf(parents, pairs);
    turns.unite(parents, pairs, [&] { return random(2); });
    ASSERT_EQ(rootsOf(parents, {}), want) << "round " << round;
  }
}

}  // namespace
}  // namespace tributary::testing
