// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <unordered_map>
#include <utility>
#include <vector>

#include "Tributary/Base/ParallelFor.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Collective/Assignment.h"
#include "Tributary/Components/Connection.h"
#include "Tributary/Components/Matching.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// A lattice of root cells. Each is the root of a tree, in which cells are recursively divided into
/// `factor` parts along each axis that is not flat. Places are counted in cells of the finest
/// level.
struct TreeLattice {
  std::array<std::int64_t, 3> roots{1, 1, 1};  ///< Along each axis; 1 along a flat one.
  std::array<std::int32_t, 3> isFlat{};
  std::int32_t factor = 2;
  std::int32_t depth = 0;  ///< The finest level that any rank may have; roots are level 0.

  /// Throws Error if the finest level has more than 2^53 cells along an axis, or if a number is
  /// invalid.
  void check() const;
  /// Width of a cell of a level, in cells of the finest level.
  [[nodiscard]] std::int64_t width(int level) const;
  /// The number of axes along which the lattice is not flat.
  int dimension() const { return 3 - isFlat[0] - isFlat[1] - isFlat[2]; }
};

/// An undivided cell.
struct TreeLeaf {
  std::array<std::int64_t, 3> at;  ///< Place of its lowest corner.
  std::int32_t level;
  std::int32_t isGhost;  ///< 1: a copy of a leaf that another block may own; 0: an own leaf.
};

/// The leaves of the trees of one block and their contacts. A tree belongs to one block; other
/// blocks contain its leaves only as ghosts.
class TreeLeaves {
 public:
  /// A cell of the finest level, as an index along each axis.
  using Place = std::array<std::int64_t, 3>;
  /// -1, 0 or 1 along each axis.
  using Direction = std::array<std::int32_t, 3>;
  /// The numbers of two leaves.
  using Pair = std::pair<std::uint32_t, std::uint32_t>;

  TreeLeaves() = default;
  /// Throws Error if a leaf is outside of the lattice, if leaves other than ghosts overlap, or if
  /// there are 2^31 leaves or more.
  TreeLeaves(const TreeLattice& lattice, std::vector<TreeLeaf> leaves);

  /// The lattice of the trees.
  const TreeLattice& lattice() const { return lattice_; }
  /// The leaves, ghosts included, by number.
  const std::vector<TreeLeaf>& leaves() const { return leaves_; }

  /// In bytes, apart from the table of roots.
  [[nodiscard]] std::size_t memory() const {
    return leaves_.capacity() * sizeof leaves_[0] + slots_.capacity() * sizeof slots_[0];
  }

  /// The leaf, other than a ghost, that contains the cell of the finest level at a place; -1 if
  /// there is none.
  [[nodiscard]] std::int64_t find(const Place& at) const;
  /// All pairs of leaves, other than ghosts, that share a face, edge or point, or a part of one. In
  /// two dimensions edges are faces. Each pair occurs once.
  [[nodiscard]] std::vector<Pair> contacts(Through through, const ParallelFor& parallelFor) const;
  /// Whether trees of other blocks may have leaves at a corner.
  [[nodiscard]] bool isOnBorder(const Place& corner) const;

  /// The numbers of the trees of ghosts, or of all other leaves, each once.
  [[nodiscard]] std::vector<std::int64_t> trees(bool ofGhosts) const;
  /// The number of the tree that contains a place.
  [[nodiscard]] std::int64_t treeAt(const Place& at) const;

  /// Whether a tree has leaves in this block that are not ghosts.
  [[nodiscard]] bool hasTree(std::int64_t tree) const { return roots_.count(tree) != 0; }
  /// The place `width` cells away in a direction.
  static Place beside(const Place& at, const Direction& direction, std::int64_t width) {
    Place place = at;
    for (std::size_t a = 0; a < 3; ++a) place[a] += direction[a] * width;
    return place;
  }
  /// Calls `visit(direction, place)` for each neighbor of the same size that a leaf may have
  /// within the lattice.
  template <class Visit>
  void visitNeighbors(const TreeLeaf& leaf, Through through, Visit&& visit) const {
    const int dimension = lattice_.dimension();
    const int most = through == Through::Faces   ? 1
                     : through == Through::Edges ? std::max(dimension - 1, 1)
                                                 : dimension;
    const std::int64_t width = widths_[static_cast<std::size_t>(leaf.level)];
    Direction from{}, to{}, d;
    for (std::size_t a = 0; a < 3; ++a) {
      if (lattice_.isFlat[a] != 0) continue;
      from[a] = leaf.at[a] > 0 ? -1 : 0;
      to[a] = leaf.at[a] + width < lattice_.roots[a] * widths_[0] ? 1 : 0;
    }
    for (d[2] = from[2]; d[2] <= to[2]; ++d[2]) {
      for (d[1] = from[1]; d[1] <= to[1]; ++d[1]) {
        for (d[0] = from[0]; d[0] <= to[0]; ++d[0]) {
          const int steps = std::abs(d[0]) + std::abs(d[1]) + std::abs(d[2]);
          if (steps > 0 && steps <= most) visit(d, beside(leaf.at, d, width));
        }
      }
    }
  }

 private:
  // The content of a node: children from slots_[n] on, nothing, or leaf -2 - n.
  static constexpr std::int64_t Nothing = -1;
  static constexpr int MostLevels = 54;
  /// The contribution of a coordinate to the number of the tree and to that of the child on each
  /// level.
  struct Path {
    std::int64_t tree;
    std::array<std::int32_t, MostLevels> child;
  };
  bool isInLattice(const TreeLeaf& leaf) const;
  /// Adds a leaf that is not a ghost. Throws Error if it overlaps another one.
  /// @param children  the number of children of a cell
  void insert(std::size_t leaf, std::size_t children);
  Path pathTo(std::size_t axis, std::int64_t coordinate, int level) const;
  /// The node on a level, or the leaf above it, on the paths along the three axes.
  std::int64_t nodeAt(const Path& x, const Path& y, const Path& z, int level) const;
  /// Appends the pairs of a leaf with larger leaves, and with later leaves of the same size.
  void contactsOf(std::size_t leaf, Through through, std::vector<Pair>& pairs) const;

  TreeLattice lattice_;
  std::vector<TreeLeaf> leaves_;
  std::unordered_map<std::int64_t, std::int64_t> roots_;  // by tree
  std::vector<std::int64_t> slots_;
  std::vector<std::int64_t> widths_;  // by level
};

/// A contact of a leaf with leaves of other blocks: leaves with the same key are connected.
struct LeafContact {
  std::int64_t leaf;
  EntityKey key;
};

/// Finds the leaves of different blocks that share a face, edge or point, or a part of one, and the
/// leaves of which ghosts are copies. A ghost that is not a copy of a leaf has no contact.
///
/// Collective. Leaves beside trees of other blocks are sent to a rank determined by the number of
/// their tree, which other ranks query. Throws Error on all ranks if two blocks own the same tree.
/// @param blocks  the leaves of each block of this rank, in order, with the same lattice on all
///                ranks
/// @return for each block of this rank its contacts, sorted, each once
[[nodiscard]] std::vector<std::vector<LeafContact>> matchLeaves(
    Transport& transport, const Assignment& assignment,
    const std::vector<const TreeLeaves*>& blocks, Through through);

}  // namespace tributary
