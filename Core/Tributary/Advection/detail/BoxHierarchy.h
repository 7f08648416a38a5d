// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "Tributary/Base/Box.h"
#include "Tributary/Base/Span.h"

namespace tributary::detail {

/// Finds the boxes that contain a point or a box: a tree in which each node holds consecutive
/// boxes. It costs little to make, and searches are fast where consecutive boxes are close to each
/// other.
class BoxHierarchy {
 public:
  /// No boxes.
  BoxHierarchy() = default;
  explicit BoxHierarchy(std::vector<Box> boxes);

  /// The boxes, by number.
  Span<const Box> boxes() const { return levels_.empty() ? Span<const Box>() : levels_[0]; }

  /// Calls visit(n) for each box n that contains a point or a box, ascending.
  /// @return the number of boxes that were tested, those of nodes included
  template <class PointOrBox, class Visit>
  std::size_t forEachAt(const PointOrBox& place, Visit&& visit) const {
    return levels_.empty() ? 0 : descend(levels_.size() - 1, 0, place, visit);
  }

  /// In bytes.
  [[nodiscard]] std::size_t memory() const;

 private:
  static constexpr std::size_t Fanout = 8;

  /// Tests the boxes of a node on a level, and those below.
  template <class PointOrBox, class Visit>
  std::size_t descend(std::size_t level, std::size_t first, const PointOrBox& place,
                      Visit&& visit) const {
    const std::vector<Box>& boxes = levels_[level];
    const std::size_t end = std::min(first + Fanout, boxes.size());
    std::size_t tested = end - first;
    for (std::size_t n = first; n < end; ++n) {
      if (!boxes[n].contains(place)) continue;
      if (level > 0)
        tested += descend(level - 1, n * Fanout, place, visit);
      else
        visit(n);
    }
    return tested;
  }

  std::vector<std::vector<Box>> levels_;  // the boxes, those of each Fanout of them, and so on
};

}  // namespace tributary::detail
