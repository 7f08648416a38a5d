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

/// Disjoint sets of the elements 0 .. size() - 1 in one flat array. Sets are linked by index:
/// parent[i] <= i, so the root of a set is its least element for any order of unions, and one pass
/// in ascending order numbers the sets by their first elements.
///
/// Rem's algorithm with splicing (E. W. Dijkstra, 1976; M. Patwary, J. Blair, F. Manne,
/// "Experiments on Union-Find Algorithms for the Disjoint-Set Data Structure", SEA 2010,
/// doi:10.1007/978-3-642-13193-6_35): a union follows the parents of both elements. Each step
/// splices the path of the element with the larger parent: the smaller parent becomes its parent,
/// and the step moves on to its previous parent. (The static functions are always inlined, so that
/// kernels for several instruction sets can use them.)
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
  /// Each of `size` elements is a set of its own.
  explicit UnionFind(std::size_t size) : parent_(size) {
    for (std::size_t i = 0; i < size; ++i) parent_[i] = static_cast<Index>(i);
  }

  std::size_t size() const { return parent_.size(); }

  /// The parent of each element, for the static functions.
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

  /// Unites the sets of two elements. @return whether they were in different sets
  bool unite(Index a, Index b) { return unite(parent_.data(), a, b); }
  /// @overload
  __attribute__((always_inline)) static bool unite(Index* parent, Index a, Index b) {
    return uniteFrom(0, parent, a, b) == Outcome::Joined;
  }

  /// unite() for concurrent calls by several threads, without locks. It follows the parents of both
  /// elements as Rem's algorithm does, but splits paths (the grandparent of each element on them
  /// becomes its parent) instead of splicing them, and links only roots, by compare-and-swap
  /// (compare L. Dhulipala, C. Hong, J. Shun, "ConnectIt", VLDB 2020,
  /// doi:10.14778/3436905.3436923). No function other than uniteConcurrently() may run at the same
  /// time.
  ///
  /// Proof that no union is lost, although a store may overwrite the store of another thread: all
  /// values that parent[x] ever has are in the final set of x, by induction over the elements in
  /// ascending order. The first value other than x links the root x, and remains until another
  /// value is stored. Each later value is a value of parent[v], where v < x is an earlier value of
  /// parent[x]. So each element that a union reaches is in the set of the element at which it
  /// started, and the union ends when both elements have the same parent, or when it links the root
  /// of one to a parent of the other. The proof depends only on the order of the values of each
  /// single element, so relaxed accesses are sufficient.
  bool uniteConcurrently(Index a, Index b) { return uniteConcurrently(parent_.data(), a, b); }
  /// @tparam Access  reads and writes parents; tests control the order of the threads there
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

  /// Two elements to unite.
  using Edge = std::pair<Index, Index>;
  /// Unites the ends of all edges. If `parallelFor` uses several threads, each first processes the
  /// edges within its own range of elements, without atomic operations; most edges in the order of
  /// a mesh are of this kind. Faster than single unions if the edges are in random order, because
  /// the parents of the next edges are prefetched.
  /// @return the number of unions that joined two sets
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

  /// Numbers the sets from 0 in the order of their first elements. Consumes the union-find.
  /// @param sets  receives the number of sets
  /// @return the number of the set of each element
  [[nodiscard]] std::vector<Index> number(std::size_t& sets) && {
    Index next = 0;
    for (std::size_t i = 0; i < parent_.size(); ++i) {
      const auto p = static_cast<std::size_t>(parent_[i]);
      parent_[i] = p == i ? next++ : parent_[p];
    }
    sets = static_cast<std::size_t>(next);
    return std::move(parent_);
  }

 private:
  /// The edges of a thread's range that are not within its own elements.
  struct Rest {
    std::vector<Edge> crossing;
    std::int64_t begin = 0, end = 0;  ///< edges not processed, because too many cross
  };

  enum class Outcome {
    Joined,    ///< two sets were joined
    Together,  ///< both elements were in the same set
    Outside    ///< a path leads below `least`: a and b are not united yet
  };

  /// unite() within the elements from `least` on. Replaces a and b by the elements that it reaches.
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

  /// Unites the edges of [begin, end) within the corresponding range of elements, until too many
  /// edges leave it. No other thread accesses these elements at the same time.
  std::int64_t uniteOwn(Span<const Edge> edges, std::int64_t begin, std::int64_t end, Rest& rest) {
    const auto share = [&](std::int64_t edge) {
      return static_cast<Index>(double(edge) / double(edges.size()) * double(parent_.size()));
    };
    const Index least = share(begin), past = share(end);
    // In a mesh, many edges leave the range near its beginning, and few later.
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
      // Prefetches parents two steps ahead, and grandparents one step ahead.
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
