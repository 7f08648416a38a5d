// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/detail/BoxHierarchy.h"

#include <utility>

namespace tributary::detail {

BoxHierarchy::BoxHierarchy(std::vector<Box> boxes) {
  levels_.push_back(std::move(boxes));
  while (levels_.back().size() > Fanout) {
    const std::vector<Box>& below = levels_.back();
    std::vector<Box> level((below.size() + Fanout - 1) / Fanout);
    for (std::size_t n = 0; n < below.size(); ++n)
      if (!below[n].empty()) include(level[n / Fanout], below[n]);
    levels_.push_back(std::move(level));
  }
}

std::size_t BoxHierarchy::memory() const {
  std::size_t bytes = 0;
  for (const auto& level : levels_) bytes += level.size() * sizeof(Box);
  return bytes;
}

}  // namespace tributary::detail
