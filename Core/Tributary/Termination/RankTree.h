// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

namespace tributary {

/// The tree along which detectors report and the end is announced. Node g of level l stands for the
/// ranks from g * arity^l to (g + 1) * arity^l - 1 and lives on the first of them; the leaves
/// (level 0) are the ranks, the root is on rank 0. Nodes on one rank need no messages among
/// themselves; what is left is a tree of ranks: the parent of rank r > 0 is r with its lowest digit
/// other than 0, to the base `arity`, set to 0.
class RankTree {
 public:
  RankTree(int size, int arity) : size_(size), arity_(arity) {}

  /// The root's level: the lowest with one node.
  int height() const;
  /// The rank of the parent of this rank's highest node. @pre rank > 0
  int parent(int rank) const;
  /// The ranks whose parent this is, those with the largest subtrees first.
  std::vector<int> children(int rank) const;
  /// The parent and the children.
  std::vector<int> neighbors(int rank) const;
  /// The rank of the node of `level` above this rank's leaf.
  int ancestor(int rank, int level) const;

 private:
  std::int64_t size_;
  std::int64_t arity_;
};

}  // namespace tributary
