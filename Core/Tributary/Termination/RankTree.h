// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

namespace tributary {

/// The tree of ranks along which detectors send reports and announce termination.
///
/// Node g of level l represents the ranks [g * arity^l, (g + 1) * arity^l) and is on the first of
/// them. The leaves (level 0) are the ranks, and the root is on rank 0. Nodes on the same rank need
/// no messages, which leaves a tree of ranks: the parent of rank r > 0 is r with its lowest
/// non-zero digit to the base `arity` replaced by 0.
class RankTree {
 public:
  /// @param size  number of ranks, at least 1
  /// @param arity  children of a node, at least 2
  RankTree(int size, int arity) : size_(size), arity_(arity) {}

  /// The level of the root: the lowest level with one node.
  [[nodiscard]] int height() const;
  /// The parent of a rank. @pre rank > 0
  [[nodiscard]] int parent(int rank) const;
  /// The children of a rank, those with the largest subtrees first.
  [[nodiscard]] std::vector<int> children(int rank) const;
  /// The parent and the children of a rank.
  [[nodiscard]] std::vector<int> neighbors(int rank) const;
  /// The rank of the ancestor on `level` of a rank's leaf.
  [[nodiscard]] int ancestor(int rank, int level) const;

 private:
  std::int64_t size_;
  std::int64_t arity_;
};

}  // namespace tributary
