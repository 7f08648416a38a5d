// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "Tributary/Advection/FieldBlock.h"
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

/// A box of a grid's cells, evaluated from the arrays of one piece.
class StructuredBlock : public FieldBlock {
 public:
  /// @param pointStride  of the piece's points, along each axis
  StructuredBlock(BlockId id, int piece, std::shared_ptr<const StructuredGrid> grid,
                  StructuredView view, std::array<std::int64_t, 3> pointStride, CellBox owned,
                  std::vector<BlockId> neighbors)
      : FieldBlock(id, piece),
        grid_(std::move(grid)),
        view_(view),
        owned_(owned),
        pointStride_(pointStride),
        neighbors_(std::move(neighbors)) {}

  Box bounds() const override;
  void advance(const StepRules& rules, Span<Particle> particles, std::int64_t extraSteps,
               TrajectoryLog& log) const override;
  bool enter(Particle&) const override { return true; }  // cells are found from positions

  void find(Span<CellQuery> queries) const override;
  void weights(const StepRules& rules, Span<const TrajectoryPoint> points,
               Weights& out) const override;
  std::vector<BlockId> neighbors() const override { return neighbors_; }

 private:
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

  std::shared_ptr<const StructuredGrid> grid_;
  StructuredView view_;
  CellBox owned_;
  std::array<std::int64_t, 3> pointStride_;
  std::vector<BlockId> neighbors_;
};

}  // namespace tributary::detail
