// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "Tributary/Advection/FieldBlock.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

namespace detail {
class StructuredGrid;
}

/// Grids by number, for readBlock().
using StructuredGrids = std::map<int, std::shared_ptr<const detail::StructuredGrid>>;

/// A piece of a uniform or rectilinear grid: a view of arrays that the caller owns and that must
/// outlive the blocks made from it. All pieces with the same `grid` number, on any rank, form one
/// grid in one index space.
struct StructuredPiece {
  int piece = 0;  ///< Number of the piece on this rank: see FieldBlock::piece().
  int grid = 0;
  std::array<int, 6> extent{};  ///< Points stored: first and last index along x, y, z.
  bool uniform = true;
  std::array<double, 3> origin{};   ///< Uniform: position of index (0, 0, 0), same on all pieces.
  std::array<double, 3> spacing{};  ///< Uniform: positive.
  std::array<std::vector<double>, 3> coordinates;  ///< Rectilinear: of the points of the extent.
  ArrayView velocity;  ///< 3 components, at points or cells of the extent.
  /// Unsteady field: the velocity at the end of the interval, of the same type. All pieces or none.
  ArrayView laterVelocity;
  bool cellCentered = false;
  /// Staggered velocity (Arakawa C), with a tuple for each point: component c is the velocity
  /// through the face across axis c whose lowest corner is the point, or of the cell if the grid is
  /// flat along c. In a cell each component is linear between its two faces and constant along the
  /// other axes. Not with cellCentered.
  bool onFaces = false;
  Span<const std::uint8_t> ghosts;  ///< vtkGhostType of the cells of the extent, or empty.
};

/// Makes blocks of the pieces of all ranks. Collective, also on ranks without a piece.
///
/// Cells are found by the coordinates of the whole grid, not by those of a piece, so results do not
/// depend on the partition. Duplicate ghost cells must be exact copies; they are evaluated in
/// place. Hidden cells are holes.
///
/// Throws Error on all ranks if pieces of a grid disagree in origin, spacing or coordinates, if
/// they leave a gap, or if the size of an array differs from what a piece needs.
/// @param blocksPerPiece  at least 1; some blocks may own no cell
/// @param firstBlock  the id of the first block of each piece; the other ids follow
/// @param grids  null, or out: all grids, for Domain::grids
[[nodiscard]] std::vector<std::unique_ptr<FieldBlock>> makeStructuredBlocks(
    Transport& transport, const std::vector<StructuredPiece>& pieces, int blocksPerPiece,
    const std::vector<BlockId>& firstBlock, StructuredGrids* grids = nullptr);

}  // namespace tributary
