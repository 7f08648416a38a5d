#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "Tributary/ParallelFor.h"
#include "Tributary/Span.h"

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
      return __atomic_load_n(at, __ATOMIC_SEQ_CST);
    }
    /// @return whether `at` held `old`, and holds `young` now
    __attribute__((always_inline)) static bool replace(Index* at, Index old, Index young) {
      return __atomic_compare_exchange_n(at, &old, young, false, __ATOMIC_SEQ_CST,
                                         __ATOMIC_SEQ_CST);
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
    while (true) {
      const Index pa = parent[a], pb = parent[b];
      if (pa == pb) return false;
      if (pa > pb) {
        parent[a] = pb;
        if (pa == a) return true;
        a = pa;
      } else {
        parent[b] = pa;
        if (pb == b) return true;
        b = pb;
      }
    }
  }

  /// unite() for several threads at once, without locks (Rem's algorithm with splices by
  /// compare-and-swap; compare Dhulipala, Hong, Shun: ConnectIt, VLDB 2020). Nothing but
  /// uniteConcurrently() may run meanwhile.
  ///
  /// Why no union is lost: a thread that replaces x's parent v by q has read q as the parent of
  /// another element y, and from then on owes the union of v and y. Claim: x and every parent that
  /// it ever had end up in one set. Take the parents in ascending order, and the replacements of
  /// one parent the latest first. x and q as well as y and q are together, since q < v. The owed
  /// union goes on by reading the parents of v and y: those below v put v and y together by the
  /// claim for them; if v is a root still and y's parent, then y is below v, unless that link was
  /// replaced, which came later. All this needs is that a replacement takes away just the link that
  /// was read (hence compare-and-swap: a plain store may take away another thread's, with what
  /// hangs on it), and one order of all accesses (hence sequential consistency, which costs nothing
  /// on x86: the loads are plain ones).
  bool uniteConcurrently(Index a, Index b) { return uniteConcurrently(parent_.data(), a, b); }
  /// @tparam Access  how the parents are read and replaced; tests decide there whose turn it is
  template <class Access = Atomics>
  __attribute__((always_inline)) static bool uniteConcurrently(Index* parent, Index a, Index b) {
    while (true) {
      const Index pa = Access::load(parent + a);
      const Index pb = Access::load(parent + b);
      if (pa == pb) return false;
      const bool first = pa > pb;
      const Index upper = first ? a : b, above = first ? pa : pb, below = first ? pb : pa;
      if (!Access::replace(parent + upper, above, below)) continue;  // somebody else was faster
      if (above == upper) return true;
      (first ? a : b) = above;
    }
  }

  using Edge = std::pair<Index, Index>;
  /// Unites the ends of all edges; `parallelFor` may use several threads. Faster than one by one if
  /// the edges are in random order: what the next ones need is on its way from memory.
  /// @return how many sets less there are
  std::int64_t uniteAll(Span<const Edge> edges, const ParallelFor& parallelFor) {
    const auto count = static_cast<std::int64_t>(edges.size());
    std::int64_t merged = 0;
    parallelFor(count, [&](std::int64_t begin, std::int64_t end) {
      const bool alone = begin == 0 && end == count;
      const std::int64_t mine = alone ? uniteRange<true>(edges.data(), begin, end)
                                      : uniteRange<false>(edges.data(), begin, end);
      __atomic_fetch_add(&merged, mine, __ATOMIC_RELAXED);
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
  template <bool Alone>
  std::int64_t uniteRange(const Edge* edges, std::int64_t begin, std::int64_t end) {
    constexpr std::int64_t kAhead = 16;  // and the grandparents half as far as the parents
    Index* const parent = parent_.data();
    std::int64_t merged = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const Edge& later = edges[i + 2 * kAhead < end ? i + 2 * kAhead : end - 1];
      __builtin_prefetch(parent + later.first);
      __builtin_prefetch(parent + later.second);
      const Edge& next = edges[i + kAhead < end ? i + kAhead : end - 1];
      __builtin_prefetch(parent + __atomic_load_n(parent + next.first, __ATOMIC_RELAXED));
      __builtin_prefetch(parent + __atomic_load_n(parent + next.second, __ATOMIC_RELAXED));
      merged += Alone ? unite(parent, edges[i].first, edges[i].second)
                      : uniteConcurrently(parent, edges[i].first, edges[i].second);
    }
    return merged;
  }

  std::vector<Index> parent_;
};

}  // namespace tributary
