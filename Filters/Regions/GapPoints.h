// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "Regions/Pieces/CellValues.h"
#include "Regions/Pieces/ComponentPiece.h"
#include "Regions/Pieces/GapSlabs.h"
#include "Regions/Pieces/PieceFactory.h"

#include "Tributary/Base/Span.h"
#include "Tributary/Collective/Assignment.h"
#include "Tributary/Components/LatticeMask.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// The points and cells beside the gaps of all ranks: which data set needs to know whether they are
/// in range, or hidden.
class GapPoints {
 public:
  GapPoints() = default;
  /// Local.
  /// @param pieces  of this rank
  /// @param all     outlines of the pieces of all ranks
  GapPoints(const DomainRules& rules, const Pieces& pieces, Span<const NeighborPiece> all);

  /// Collective. Returns for each piece of this rank the mask of the elements of its gaps that are
  /// in range; see GapSlab. As in Seam.h, an element is hidden if a corner is hidden, or if the
  /// cells on all sides of the gap are hidden.
  /// @param pieces  those that this was made of
  /// @param tests   of the pieces
  [[nodiscard]] std::vector<std::vector<std::uint64_t>> masksOf(
      Transport& transport, const Assignment& assignment, const Pieces& pieces,
      const std::vector<RangeTest>& tests) const;

  /// The memory on this rank, in bytes.
  [[nodiscard]] std::size_t memory() const;

 private:
  /// A box of points or cells of a piece, and where they are in the mask of a slab of a block.
  struct Patch {
    std::array<std::int64_t, 3> low, high;  ///< Indices in the extent, both included.
    std::array<std::int64_t, 3> shift;      ///< To the places in the slab.
    BlockId block;
    GapSlab slab;
  };
  /// What blocks need of a piece.
  struct Needs {
    std::array<std::int64_t, 3> first{};  ///< Index of its first point.
    LatticeSize pointCount{};             ///< Along each axis.
    std::vector<Patch> points, cells;
  };

  /// Calls `visit(SlabRow)` for the rows of a patch of points, or of one of cells.
  template <class Visit>
  static void visitPointRows(const Needs& needs, const Patch& patch, Visit&& visit);
  template <class Visit>
  static void visitCellRows(const Needs& needs, const Patch& patch, Visit&& visit);
  [[nodiscard]] static bool hasHidden(const ComponentPiece& piece, const Needs& needs);

  std::vector<Needs> needs_;                 // of each piece
  std::vector<std::vector<GapSlab>> slabs_;  // of each piece
};

}  // namespace tributary
