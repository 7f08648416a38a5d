// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace tributary::detail {

/// The order in which the items of a group are combined: a binary tree over their places, whatever
/// arrives first (Peterka and Ross, Figure 4). Neighbors are combined as soon as both are there,
/// so that work overlaps with waiting and several threads find something to do; the shape is fixed,
/// so that the result has the same bits every time. What was combined lies at the first of its
/// places.
class GroupTree {
 public:
  explicit GroupTree(int size = 0) : levels_(static_cast<std::size_t>(size), NotThere) {}

  int size() const { return static_cast<int>(levels_.size()); }

  /// Whether the item of a place has arrived.
  bool has(int place) const { return levels_[static_cast<std::size_t>(place)] != NotThere; }

  /// The item of a place has arrived, or has been combined with the one that pair() named.
  /// @return true if there is a pair to combine now
  bool arrived(int place) {
    int& level = levels_[static_cast<std::size_t>(place)];
    for (++level; 1 << level < size(); ++level) {
      const int step = 1 << level;
      const int lower = place & ~step;
      const int upper = place | step;
      if (upper >= size()) continue;  // nothing to combine with: it goes up as it is
      pair_ = {lower, upper};
      return levels_[static_cast<std::size_t>(lower)] == levels_[static_cast<std::size_t>(upper)];
    }
    complete_ = true;
    return false;
  }

  /// Places of two items to combine; the result belongs to the first: arrived(first) comes next.
  std::pair<int, int> pair() const { return pair_; }
  /// Everything is combined, at place 0.
  bool complete() const { return complete_; }

 private:
  static constexpr int NotThere = -1;
  std::vector<int>
      levels_;  // 2^level places from here on are combined, as far as there are so many
  std::pair<int, int> pair_{0, 0};
  bool complete_ = false;
};

}  // namespace tributary::detail
