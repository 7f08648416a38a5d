// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Termination/RankTree.h"

namespace tributary {

int RankTree::height() const {
  int level = 0;
  for (std::int64_t width = 1; width < size_; width *= arity_) ++level;
  return level;
}

int RankTree::parent(int rank) const {
  std::int64_t width = arity_;
  while (rank % width == 0) width *= arity_;
  return static_cast<int>(rank - rank % width);
}

std::vector<int> RankTree::children(int rank) const {
  std::int64_t width = 1;
  while (width < size_ && rank % (width * arity_) == 0) width *= arity_;
  std::vector<int> children;
  for (width /= arity_; width >= 1; width /= arity_) {
    for (std::int64_t digit = 1; digit < arity_ && rank + digit * width < size_; ++digit) {
      children.push_back(static_cast<int>(rank + digit * width));
    }
  }
  return children;
}

std::vector<int> RankTree::neighbors(int rank) const {
  std::vector<int> neighbors = children(rank);
  if (rank > 0) neighbors.push_back(parent(rank));
  return neighbors;
}

int RankTree::ancestor(int rank, int level) const {
  std::int64_t width = 1;
  for (; level > 0 && width < size_; --level) width *= arity_;
  return static_cast<int>(rank - rank % width);
}

}  // namespace tributary
