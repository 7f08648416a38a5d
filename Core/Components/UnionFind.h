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

  /// unite() for several threads at once, without locks (after Patwary, Refsnes, Manne: Multi-core
  /// spanning forest algorithms using the disjoint-set data structure, IPDPS 2012). Nothing but
  /// uniteConcurrently() may run meanwhile.
  ///
  /// A root must be won by compare-and-swap. A splice is an ordinary store: whoever overwrites
  /// another thread's splice of `a` takes a link from a away, but every thread that splices goes on
  /// to unite the parent that it saw with the one that it wrote, so all parents that a ever had end
  /// up in one set, and what connects them lies below a and needs no link of it.
  bool uniteConcurrently(Index a, Index b) { return uniteConcurrently(parent_.data(), a, b); }
  __attribute__((always_inline)) static bool uniteConcurrently(Index* parent, Index a, Index b) {
    while (true) {
      const Index pa = __atomic_load_n(parent + a, __ATOMIC_RELAXED);
      const Index pb = __atomic_load_n(parent + b, __ATOMIC_RELAXED);
      if (pa == pb) return false;
      const bool first = pa > pb;
      const Index upper = first ? a : b, above = first ? pa : pb, below = first ? pb : pa;
      if (above != upper) {
        __atomic_store_n(parent + upper, below, __ATOMIC_RELAXED);
      } else {
        Index seen = above;
        if (__atomic_compare_exchange_n(parent + upper, &seen, below, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
          return true;
        continue;  // no root any more
      }
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
