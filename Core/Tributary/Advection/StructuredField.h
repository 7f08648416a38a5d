// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "Tributary/Advection/FieldBlock.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// One rank's piece of a uniform or rectilinear grid, a view of arrays that stay the caller's.
/// All pieces with the same `grid` number, on whatever rank, form one grid in one index space.
struct StructuredPiece {
  int piece = 0;  ///< Number of the piece on this rank, handed back by FieldBlock::piece().
  int grid = 0;
  std::array<int, 6> extent{};  ///< Points stored: first and last index along x, y, z.
  bool uniform = true;
  std::array<double, 3> origin{};  ///< Uniform: where index (0, 0, 0) lies, the same on all pieces.
  std::array<double, 3> spacing{};                 ///< Uniform: positive.
  std::array<std::vector<double>, 3> coordinates;  ///< Rectilinear: of the points of the extent.
  ArrayView velocity;  ///< 3 components, at points or cells of the extent.
  bool cellCentered = false;
  Span<const std::uint8_t> ghosts;  ///< vtkGhostType of the cells of the extent, or empty.
};

/// Collective over all ranks, also those without a piece. Cuts every piece into `blocksPerPiece`
/// blocks with the ids firstBlock[i], firstBlock[i] + 1, ... (some may own no cell).
///
/// A cell is found from the coordinates of the whole grid, never from those of the piece, so the
/// answer does not depend on the cut. Duplicate ghost cells are exact copies of their owners' and
/// are evaluated in place; hidden cells are holes.
/// Throws Error if pieces of a grid disagree in origin, spacing or coordinates, or sizes are off.
std::vector<std::unique_ptr<FieldBlock>> makeStructuredBlocks(
    Transport& transport, const std::vector<StructuredPiece>& pieces, int blocksPerPiece,
    const std::vector<BlockId>& firstBlock);

}  // namespace tributary
