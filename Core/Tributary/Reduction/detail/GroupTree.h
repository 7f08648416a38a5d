// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace tributary::detail {

/// The order in which the items of a group are combined: a binary tree over their places
/// (T. Peterka, R. Ross, "Versatile Communication Algorithms for Data
/// Analysis", EuroMPI 2012, LNCS 7490, Figure 4). Neighbors are combined as soon as both have
/// arrived, which overlaps work with waiting and allows several threads to work. The shape of the
/// tree is independent of the order of arrival, so the result always has the same bits. A combined
/// item is stored at the first of its places.
class GroupTree {
 public:
  explicit GroupTree(int size = 0) : levels_(static_cast<std::size_t>(size), Missing) {}

  int size() const { return static_cast<int>(levels_.size()); }

  /// Whether the item of a place has arrived.
  bool has(int place) const { return levels_[static_cast<std::size_t>(place)] != Missing; }

  /// Call it if the item of a place has arrived, or has been combined with the other one of pair().
  /// @return true if there is a pair to combine now
  [[nodiscard]] bool arrived(int place) {
    int& level = levels_[static_cast<std::size_t>(place)];
    for (++level; 1 << level < size(); ++level) {
      const int step = 1 << level;
      const int lower = place & ~step;
      const int upper = place | step;
      if (upper >= size()) continue;  // no partner: the item moves up unchanged
      pair_ = {lower, upper};
      return levels_[static_cast<std::size_t>(lower)] == levels_[static_cast<std::size_t>(upper)];
    }
    complete_ = true;
    return false;
  }

  /// The places of two items to combine. Store the result at the first and call arrived(first).
  std::pair<int, int> pair() const { return pair_; }
  /// Whether all items are combined, at place 0.
  bool complete() const { return complete_; }

 private:
  static constexpr int Missing = -1;
  std::vector<int> levels_;  // by first place: combined with the following 2^level - 1 places
  std::pair<int, int> pair_{0, 0};
  bool complete_ = false;
};

}  // namespace tributary::detail
