// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "Tributary/Advection/FieldBlock.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Cells whose shape functions the library does not know (polyhedra, quadratic ...), evaluated by
/// the caller's means. Const members must be thread-safe. Cell numbers are those of the piece.
class ForeignCells {
 public:
  virtual ~ForeignCells() = default;
  /// @param ids, weights  room for maximumPoints() values; set to the points of the cell and their
  ///                      interpolation weights at `point`. gradients (3 per point) may be null.
  /// @param violation     0 if the point lies inside, else how far outside, in units of the cell.
  /// @return the number of points, 0 when the cell cannot be evaluated there.
  virtual int evaluate(std::int64_t cell, const double point[3], std::int64_t* ids, double* weights,
                       double* gradients, double& violation) const = 0;
  virtual int maximumPoints() const = 0;
};

/// One rank's piece of an unstructured mesh, a view of arrays that stay the caller's (they must
/// live as long as the blocks made from it). Cell types and point orders are VTK's.
struct MeshPiece {
  int piece = 0;     ///< Number of the piece on this rank, handed back by FieldBlock::piece().
  ArrayView points;  ///< 3 components.
  Span<const std::uint8_t> types;         ///< VTK cell type per cell.
  Span<const std::int64_t> offsets;       ///< cells + 1 positions in connectivity.
  Span<const std::int64_t> connectivity;  ///< Point numbers of this piece.
  ArrayView velocity;                     ///< 3 components, at points or cells.
  bool cellCentered = false;
  Span<const std::uint8_t> ghosts;          ///< vtkGhostType per cell, or empty.
  Span<const std::int64_t> globalPointIds;  ///< Or empty: faces are matched by coordinates.
  const ForeignCells* foreign = nullptr;    ///< For cells of other than the linear types.
};

/// Collective over all ranks, also those without a piece. Cuts every piece into `blocksPerPiece`
/// blocks with the ids firstBlock[i], firstBlock[i] + 1, ... (some may own no cell). Neighbors are
/// found once, inside and across blocks and ranks alike. Ghost cells (duplicates) and hidden cells
/// are left out; cells without volume and cells of lower dimension than the highest of the whole
/// domain too. A face with more than two sides, counted over all ranks (cells that overlap, sheets
/// that branch), is linked to none: what leaves through it is searched for.
/// @param dimension  highest cell dimension of the whole domain (2 or 3), the same on all ranks.
/// Throws Error if sizes are off or a connectivity entry lies outside the points.
std::vector<std::unique_ptr<FieldBlock>> makeMeshBlocks(Transport& transport,
                                                        const std::vector<MeshPiece>& pieces,
                                                        int blocksPerPiece, int dimension,
                                                        const std::vector<BlockId>& firstBlock);

}  // namespace tributary
