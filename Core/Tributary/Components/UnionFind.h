// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "Tributary/Base/ParallelFor.h"
#include "Tributary/Base/Span.h"

namespace tributary {

/// Disjoint sets of the elements 0 .. size() - 1 in one flat array: parent[i] <= i, so that the
/// root of a set is its least element whatever the order of the unions, and one pass in ascending
/// order numbers the sets by their first elements.
///
/// Rem's algorithm with splicing (Dijkstra 1976; Patwary, Blair, Manne: Experiments on union-find
/// algorithms, SEA 2010): both elements climb in turns, always the one with the larger parent,
/// which on the way is made to point to the smaller parent. (The static functions are always
/// inlined so that kernels for several instruction sets may use them.)
template <class Index>
class UnionFind {
  static_assert(std::is_integral_v<Index>);

  struct Atomics {
    __attribute__((always_inline)) static Index load(const Index* at) {
      return __atomic_load_n(at, __ATOMIC_RELAXED);
    }
    __attribute__((always_inline)) static void store(Index* at, Index value) {
      __atomic_store_n(at, value, __ATOMIC_RELAXED);
    }
    /// @return whether `at` held `old`, and holds `young` now
    __attribute__((always_inline)) static bool replace(Index* at, Index old, Index young) {
      return __atomic_compare_exchange_n(at, &old, young, false, __ATOMIC_RELAXED,
                                         __ATOMIC_RELAXED);
    }
  };

 public:
  explicit UnionFind(std::size_t size) : parent_(size) {
    for (std::size_t i = 0; i < size; ++i) parent_[i] = static_cast<Index>(i);
  }

  std::size_t size() const { return parent_.size(); }

  /// Per element its parent, for the static functions.
  Index* parents() { return parent_.data(); }

  /// The least element of the set, with path halving.
  Index find(Index i) {
    Index* const parent = parent_.data();
    while (parent[i] != i) {
      parent[i] = parent[parent[i]];
      i = parent[i];
    }
    return i;
  }

  /// @return whether they were in different sets
  bool unite(Index a, Index b) { return unite(parent_.data(), a, b); }
  __attribute__((always_inline)) static bool unite(Index* parent, Index a, Index b) {
    return uniteFrom(0, parent, a, b) == Outcome::Joined;
  }

  /// unite() for several threads at once, without locks: both elements climb in turns as in Rem's
  /// algorithm, but their paths are split (each element on them comes to point to its grandparent)
  /// instead of spliced, and only roots are linked by compare-and-swap (compare Dhulipala, Hong,
  /// Shun: ConnectIt, VLDB 2020). Nothing but uniteConcurrently() may run meanwhile.
  ///
  /// Why no union is lost, although a store may take back another thread's: all values that
  /// parent[x] takes one after the other are in one set with x in the end. Take the elements in
  /// ascending order. The first value but x itself links the root x and stays until another one is
  /// stored; each later value is one that parent[v] has taken, where v is one that parent[x] has
  /// taken before, and v < x. So elements that a thread climbs to belong to the sets it started in,
  /// and it ends where both have the same parent or where it links the root of one to a parent of
  /// the other. Nothing but the order of the values of each single element matters to this, hence
  /// relaxed accesses.
  bool uniteConcurrently(Index a, Index b) { return uniteConcurrently(parent_.data(), a, b); }
  /// @tparam Access  how the parents are read and written; tests decide there whose turn it is
  template <class Access = Atomics>
  __attribute__((always_inline)) static bool uniteConcurrently(Index* parent, Index a, Index b) {
    Index pa = Access::load(parent + a), pb = Access::load(parent + b);
    while (pa != pb) {
      if (pa < pb) {
        std::swap(a, b);
        std::swap(pa, pb);
      }
      if (pa == a) {
        if (Access::replace(parent + a, a, pb)) return true;
        pa = Access::load(parent + a);  // another thread linked it
        continue;
      }
      const Index next = Access::load(parent + pa);
      if (next != pa) Access::store(parent + a, next);
      a = pa;
      pa = next;
    }
    return false;
  }

  using Edge = std::pair<Index, Index>;
  /// Unites the ends of all edges; `parallelFor` may use several threads, each of which has a range
  /// of the elements to itself at first, so that edges in the order of a mesh need nothing atomic.
  /// Faster than one by one if the edges are in random order: what the next ones need is on its way
  /// from memory.
  /// @return how many sets less there are
  std::int64_t uniteAll(Span<const Edge> edges, const ParallelFor& parallelFor) {
    const auto count = static_cast<std::int64_t>(edges.size());
    std::int64_t merged = 0;
    std::mutex adding;
    std::vector<Rest> rests;
    parallelFor(count, [&](std::int64_t begin, std::int64_t end) {
      const bool alone = begin == 0 && end == count;
      Rest rest;
      const std::int64_t mine = alone ? uniteRange(edges.data(), begin, end,
                                                   [this](Index a, Index b) { return unite(a, b); })
                                      : uniteOwn(edges, begin, end, rest);
      const std::lock_guard<std::mutex> lock(adding);
      merged += mine;
      rests.push_back(std::move(rest));
    });
    parallelFor(static_cast<std::int64_t>(rests.size()), [&](std::int64_t begin, std::int64_t end) {
      const auto together = [this](Index a, Index b) { return uniteConcurrently(a, b); };
      std::int64_t mine = 0;
      for (auto i = begin; i < end; ++i) {
        const Rest& rest = rests[static_cast<std::size_t>(i)];
        mine += uniteRange(rest.crossing.data(), 0, std::int64_t(rest.crossing.size()), together);
        mine += uniteRange(edges.data(), rest.begin, rest.end, together);
      }
      const std::lock_guard<std::mutex> lock(adding);
      merged += mine;
    });
    return merged;
  }

  /// Makes the sets' numbers of the elements, dense and in the order of the sets' first elements;
  /// the union-find is used up.
  /// @param sets  set to the number of sets
  std::vector<Index> number(std::size_t& sets) && {
    Index next = 0;
    for (std::size_t i = 0; i < parent_.size(); ++i) {
      const auto p = static_cast<std::size_t>(parent_[i]);
      parent_[i] = p == i ? next++ : parent_[p];
    }
    sets = static_cast<std::size_t>(next);
    return std::move(parent_);
  }

 private:
  /// What is left of a range of edges when its thread has united those within its own elements.
  struct Rest {
    std::vector<Edge> crossing;
    std::int64_t begin = 0, end = 0;  ///< edges not looked at, as too many of them cross
  };

  enum class Outcome {
    Joined,    ///< two sets
    Together,  ///< they were
    Outside    ///< the way leads below `least`: a and b are to be united still
  };

  /// unite() among the elements from `least` on; a and b climb.
  __attribute__((always_inline)) static Outcome uniteFrom(Index least, Index* parent, Index& a,
                                                          Index& b) {
    while (true) {
      const Index pa = parent[a], pb = parent[b];
      if (pa == pb) return Outcome::Together;
      if (pa > pb) {
        if (pb < least) return Outcome::Outside;
        parent[a] = pb;
        if (pa == a) return Outcome::Joined;
        a = pa;
      } else {
        if (pa < least) return Outcome::Outside;
        parent[b] = pa;
        if (pb == b) return Outcome::Joined;
        b = pb;
      }
    }
  }

  static constexpr std::int64_t Ahead = 16;

  /// Unites the edges of [begin, end) that lie within the elements of the same share of all, until
  /// too many have not. No other thread touches these elements meanwhile.
  std::int64_t uniteOwn(Span<const Edge> edges, std::int64_t begin, std::int64_t end, Rest& rest) {
    const auto share = [&](std::int64_t edge) {
      return static_cast<Index>(double(edge) / double(edges.size()) * double(parent_.size()));
    };
    const Index least = share(begin), past = share(end);
    // Those of a mesh are many at first, where its own elements begin, and then few.
    const auto tooMany = [&rest, first = begin, all = end - begin](std::int64_t next) {
      const auto crossing = static_cast<std::int64_t>(rest.crossing.size());
      if (crossing < 1024 || crossing < all / 32) return false;
      return crossing > (next - first) / 2 || crossing > all / 8;
    };
    rest.crossing.reserve(static_cast<std::size_t>((end - begin) / 32));
    const Edge* const edge = edges.data();
    Index* const parent = parent_.data();
    std::int64_t merged = 0;
    while (begin < end) {
      const Edge& later = edge[std::min(begin + Ahead, end - 1)];
      __builtin_prefetch(parent + later.first);
      __builtin_prefetch(parent + later.second);
      auto [a, b] = edge[begin++];
      const bool own = std::min(a, b) >= least && std::max(a, b) < past;
      const Outcome outcome = own ? uniteFrom(least, parent, a, b) : Outcome::Outside;
      merged += outcome == Outcome::Joined;
      if (outcome != Outcome::Outside) continue;
      rest.crossing.emplace_back(a, b);
      if (tooMany(begin)) break;
    }
    rest.begin = begin;
    rest.end = end;
    return merged;
  }

  template <class Unite>
  std::int64_t uniteRange(const Edge* edges, std::int64_t begin, std::int64_t end, Unite&& unite) {
    Index* const parent = parent_.data();
    std::int64_t merged = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      // The parents two steps ahead, the grandparents one.
      const Edge& later = edges[std::min(i + 2 * Ahead, end - 1)];
      __builtin_prefetch(parent + later.first);
      __builtin_prefetch(parent + later.second);
      const Edge& next = edges[std::min(i + Ahead, end - 1)];
      __builtin_prefetch(parent + Atomics::load(parent + next.first));
      __builtin_prefetch(parent + Atomics::load(parent + next.second));
      merged += unite(edges[i].first, edges[i].second);
    }
    return merged;
  }

  std::vector<Index> parent_;
};

}  // namespace tributary
