// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "Tributary/Advection/FieldBlock.h"
#include "Tributary/Base/ParallelFor.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Base/StructuredCells.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Cells whose shape functions the library lacks (polyhedra, quadratic cells), evaluated by the
/// caller. Const members must be thread-safe. Cell numbers are those of the piece.
class ForeignCells {
 public:
  virtual ~ForeignCells() = default;
  /// Evaluates a cell at a point, which is finite. Local.
  /// @param ids  Out: the points of the cell; room for maximumPoints() values
  /// @param weights  Out: their interpolation weights at `point`; room for maximumPoints() values
  /// @param gradients  Out: of the weights, 3 for each point; may be null
  /// @param violation  Out: 0 if the point is inside, else its distance, in cell lengths
  /// @return the number of points, or 0 if the cell cannot be evaluated there
  [[nodiscard]] virtual int evaluate(std::int64_t cell, const double point[3], std::int64_t* ids,
                                     double* weights, double* gradients,
                                     double& violation) const = 0;
  /// The largest number of points of a cell.
  [[nodiscard]] virtual int maximumPoints() const = 0;
};

/// A piece of an unstructured mesh or curvilinear grid: a view of arrays that the caller owns and
/// that must outlive the blocks made from it. Cell types and the order of points in a cell are
/// those of VTK.
struct MeshPiece {
  int piece = 0;                     ///< Number of the piece on this rank: see FieldBlock::piece().
  ArrayView points;                  ///< 3 components.
  Span<const std::uint8_t> types;    ///< VTK cell type per cell.
  Span<const std::int64_t> offsets;  ///< cells + 1 positions in connectivity.
  Span<const std::int64_t> connectivity;  ///< Point numbers of this piece.
  /// Of a curvilinear grid, whose offsets and connectivity are empty.
  std::optional<StructuredCells> grid;
  ArrayView velocity;  ///< 3 components, at points or cells.
  /// Unsteady field: the velocity at the end of the interval, of the same type. All pieces or none.
  ArrayView laterVelocity;
  /// Unsteady field: the points at the end of the interval, of the same type and number, if they
  /// move; null data otherwise. In between they are linear in time, and cells stay the same. Cells
  /// that ForeignCells evaluates cannot move.
  ArrayView laterPoints;
  bool cellCentered = false;
  Span<const std::uint8_t> ghosts;          ///< vtkGhostType per cell, or empty.
  Span<const std::int64_t> globalPointIds;  ///< If empty, faces are matched by coordinates.
  const ForeignCells* foreign = nullptr;    ///< For cells of other than the linear types.

  /// The points of a cell, in VTK's order.
  CellPointIds pointsOf(std::int64_t cell) const {
    if (grid) return grid->pointsOf(cell);
    const std::int64_t begin = offsets[static_cast<std::size_t>(cell)];
    return {0, connectivity.data() + begin, offsets[static_cast<std::size_t>(cell) + 1] - begin};
  }
};

/// Whether cells of a VTK type are evaluated by MeshPiece::foreign.
[[nodiscard]] bool isForeign(std::uint8_t type);

/// The search structures and links of the meshes of a rank, kept for the next call with the same
/// cells and points. Local. Does not keep the arrays of pieces alive, and does not read them.
class MeshCache {
 public:
  MeshCache();
  MeshCache(MeshCache&&) noexcept;
  MeshCache& operator=(MeshCache&&) noexcept;
  ~MeshCache();

  /// Whether the last call of makeMeshBlocks() used what was kept.
  [[nodiscard]] bool reused() const;

 private:
  friend std::vector<std::unique_ptr<FieldBlock>> makeMeshBlocks(
      Transport& transport, const std::vector<MeshPiece>& pieces, int blocksPerPiece, int dimension,
      const std::vector<BlockId>& firstBlock, MeshCache* cache, const ParallelFor& parallelFor);

  struct Contents;
  std::unique_ptr<Contents> contents_;
};

/// Makes blocks of the pieces of all ranks. Collective, also on ranks without a piece. Neighbors of
/// cells are found in the same way inside blocks and across blocks and ranks; inside a piece, when
/// a particle first needs them.
///
/// Ghost cells (duplicates), hidden cells, cells without volume or with points that are not finite,
/// and cells of lower dimension than `dimension` are ignored. A face with more than two sides,
/// counted over all ranks (cells that overlap, sheets that branch), has no links: particles that
/// leave through it search their cell. If points move, faces are matched by the points at the
/// beginning of the interval, and a cell without volume at both of its ends is ignored.
///
/// Throws Error on all ranks if the sizes of arrays differ from what a piece or its grid needs, if
/// a grid has cells of other types, or if an entry of a connectivity is not a point.
/// @param blocksPerPiece  at least 1; some blocks may own no cell
/// @param dimension  highest cell dimension of the whole domain, 2 or 3; the same on all ranks
/// @param firstBlock  the id of the first block of each piece; the other ids follow
/// @param cache  of the previous call, or null. If the cells and points of all ranks have not
///               changed since that call, and its blocks are destroyed, the cached structures are
///               reused and only velocities are read. Receives the structures of this call.
/// @param parallelFor  runs over parts of a piece
[[nodiscard]] std::vector<std::unique_ptr<FieldBlock>> makeMeshBlocks(
    Transport& transport, const std::vector<MeshPiece>& pieces, int blocksPerPiece, int dimension,
    const std::vector<BlockId>& firstBlock, MeshCache* cache = nullptr,
    const ParallelFor& parallelFor = serialFor);

}  // namespace tributary
