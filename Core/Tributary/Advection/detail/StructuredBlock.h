// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "Tributary/Advection/FieldBlock.h"
#include "Tributary/Advection/StructuredField.h"
#include "Tributary/Advection/detail/StructuredGrid.h"
#include "Tributary/Advection/detail/kernels/InterpolationKernel.h"
#include "Tributary/Advection/detail/kernels/StructuredKernel.h"

namespace tributary::detail {

using Index3 = std::array<std::int32_t, 3>;

/// The cells lo <= (i, j, k) < hi of a whole grid.
struct CellBox {
  Index3 lo{}, hi{};
  [[nodiscard]] bool empty() const { return lo[0] >= hi[0] || lo[1] >= hi[1] || lo[2] >= hi[2]; }
};

/// The arrays that a block views.
struct StructuredArrays {
  CellBox stored;      ///< The cells of the arrays, and all their points.
  ArrayView velocity;  ///< At points, cells or faces.
  ArrayView laterVelocity;
  bool cellCentered = false;
  bool onFaces = false;                  ///< See StructuredPiece.
  const std::uint8_t* hidden = nullptr;  ///< vtkGhostType per cell, or null if none is hidden.
};

/// A box of a grid's cells, evaluated from the arrays of one piece.
class StructuredBlock : public FieldBlock {
 public:
  /// @param owned  the cells of the block
  /// @param evaluated  `owned`, and ghost cells around them that are evaluated here
  StructuredBlock(BlockId id, int piece, std::shared_ptr<const StructuredGrid> grid,
                  const StructuredArrays& arrays, const CellBox& owned, const CellBox& evaluated,
                  std::vector<BlockId> neighbors);
  /// Reads what writeCopy() has written.
  /// @param grids  of all ranks
  [[nodiscard]] static std::unique_ptr<FieldBlock> read(BlockId id, int piece,
                                                        const StructuredGrids& grids,
                                                        Reader& reader);

  Box bounds() const override;
  void advance(const StepRules& rules, Span<Particle> particles, std::int64_t extraSteps,
               TrajectoryLog& log) const override;
  bool enter(std::int32_t&) const override { return true; }  // cells are found from positions

  void find(Span<CellQuery> queries) const override;
  void weights(const StepRules& rules, Span<const TrajectoryPoint> points,
               Weights& out) const override;
  std::vector<BlockId> neighbors() const override { return neighbors_; }
  ArrayView velocity() const override { return velocity_; }
  ArrayView laterVelocity() const override { return laterVelocity_; }
  CopyKind copyKind() const override { return CopyKind::Structured; }
  CopySize copySize() const override;
  void writeCopy(Writer& writer) const override;
  void writePointData(Writer& writer, const void* tuples, std::size_t bytes) const override;
  void writeCellData(Writer& writer, const void* tuples, std::size_t bytes) const override;
  std::int64_t copiedCells() const override;
  std::int64_t copiedPoints() const override;

 private:
  struct Copied;

  std::int64_t storedPoint(const Index3& cell) const {
    std::int64_t at = 0;
    for (std::size_t a = 0; a < 3; ++a) at += (cell[a] - view_.storedLo[a]) * pointStride_[a];
    return at;
  }
  std::int64_t storedCell(const Index3& cell) const {
    std::int64_t at = 0;
    for (std::size_t a = 0; a < 3; ++a) at += (cell[a] - view_.storedLo[a]) * view_.cellStride[a];
    return at;
  }

  void findOne(const double point[3], CellMatch& best) const;
  UniformPiece uniformPiece(const StepRules& rules) const;
  void weightsAt(const StepRules& rules, const TrajectoryPoint& point, std::size_t p,
                 Weights& out) const;

  /// The cells that are evaluated here.
  CellBox evaluated() const;
  std::size_t velocityBytes() const;
  void writeRows(Writer& writer, const void* tuples, std::size_t bytes, bool ofPoints) const;

  std::shared_ptr<const StructuredGrid> grid_;
  ArrayView velocity_, laterVelocity_;
  StructuredView view_;
  CellBox owned_;
  std::array<std::int64_t, 3> pointStride_;
  std::vector<BlockId> neighbors_;
};

}  // namespace tributary::detail
