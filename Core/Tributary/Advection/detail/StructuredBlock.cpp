// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/detail/StructuredBlock.h"

#include <algorithm>
#include <cmath>

#include "Tributary/Advection/Interpolation.h"
#include "Tributary/Base/CellTypes.h"

namespace tributary::detail {

Box StructuredBlock::bounds() const {
  Box box;
  if (owned_.empty()) return box;
  for (std::size_t a = 0; a < 3; ++a) {
    const GridAxis& axis = grid_->axes[a];
    const std::int32_t top = axis.cells > 0 ? owned_.hi[a] : owned_.lo[a];
    // More than what StructuredGrid::locate() forgives and than the rounding of the coordinates.
    const double slack =
        axis.cells > 0
            ? 2 * GridSlack * std::max(axis.width(owned_.lo[a]), axis.width(owned_.hi[a] - 1))
            : axis.slack;
    const double lo = axis.point(owned_.lo[a]), hi = axis.point(top);
    const double rounding = 1e-14 * (std::fabs(lo) + std::fabs(hi));
    box.lo[a] = lo - slack - rounding;
    box.hi[a] = hi + slack + rounding;
  }
  return box;
}

void StructuredBlock::advance(const StepRules& rules, Span<Particle> particles,
                              std::int64_t extraSteps, TrajectoryLog& log) const {
  static const StructuredKernel kernel = structuredKernel();
  kernel(view_, rules, particles.data(), static_cast<std::int64_t>(particles.size()), extraSteps,
         log);
}

void StructuredBlock::find(Span<CellQuery> queries) const {
  for (CellQuery& query : queries) findOne(query.point.data(), query.best);
}

void StructuredBlock::findOne(const double point[3], CellMatch& best) const {
  Index3 cell;
  double f[3];
  if (owned_.empty() || !grid_->locate(point, cell, f)) return;
  for (std::size_t a = 0; a < 3; ++a)
    if (cell[a] < owned_.lo[a] || cell[a] >= owned_.hi[a]) return;
  if (view_.hidden && (view_.hidden[storedCell(cell)] & (HiddenCell | DuplicateCell))) return;
  CellMatch match;
  match.violation = 0;
  double width2 = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    const GridAxis& axis = grid_->axes[a];
    const double width = axis.width(cell[a]);
    width2 += width * width;
    match.key[a] = axis.point(cell[a]) + 0.5 * width;
  }
  match.size = std::sqrt(width2);
  match.block = id();
  match.cell = -1;
  if (match.betterThan(best)) best = match;
}

UniformPiece StructuredBlock::uniformPiece(const StepRules& rules) const {
  UniformPiece piece{};
  for (std::size_t a = 0; a < 3; ++a) {
    const GridAxis& axis = grid_->axes[a];
    piece.origin[a] = axis.origin;
    piece.inverse[a] = axis.inverse;
    piece.cells[a] = static_cast<double>(axis.cells);
    piece.period[a] = rules.period[a];
    piece.periodicOrigin[a] = rules.periodicOrigin[a];
    piece.pointStride[a] = pointStride_[a];
    piece.cellStride[a] = view_.cellStride[a];
    piece.storedLo[a] = view_.storedLo[a];
  }
  return piece;
}

void StructuredBlock::weights(const StepRules& rules, Span<const TrajectoryPoint> points,
                              Weights& out) const {
  int corners = 1;
  for (const GridAxis& axis : grid_->axes) corners *= axis.cells > 0 ? 2 : 1;
  out.resize(points.size(), corners);
  const bool uniform = grid_->axes[0].uniform;
  const UniformPiece piece = uniformPiece(rules);
  const InterpolationKernels& kernels = interpolationKernels();
  for (std::size_t g = 0; g < out.groups(); ++g) {
    const std::size_t first = g * Weights::Lanes, count = points.size() - first;
    unsigned apart = ~0u;
    if (uniform) {
      TrajectoryPoint filled[Weights::Lanes];
      const TrajectoryPoint* group = &points[first];
      if (count < Weights::Lanes) {  // the last point again in the other lanes
        for (std::size_t l = 0; l < Weights::Lanes; ++l) filled[l] = group[std::min(l, count - 1)];
        group = filled;
      }
      apart = kernels.uniformWeights(piece, group, groupOf(out, g), &out.cellId[first]);
    }
    for (std::size_t l = 0; l < std::min(count, Weights::Lanes); ++l) {
      out.count[first + l] = corners;
      if (apart >> l & 1) weightsAt(rules, points[first + l], first + l, out);
    }
  }
}

/// The weights of one point, anywhere in a grid.
void StructuredBlock::weightsAt(const StepRules& rules, const TrajectoryPoint& point, std::size_t p,
                                Weights& out) const {
  double x[3] = {point.x[0], point.x[1], point.x[2]};
  wrapIntoPeriod(rules, x);
  Index3 cell;
  double f[3];
  grid_->locate(x, cell, f);
  std::array<int, 3> corners;  // 1 along a flat axis
  double w[3][2], slope[3];
  for (std::size_t a = 0; a < 3; ++a) {
    w[a][0] = 1 - f[a];
    w[a][1] = f[a];
    const GridAxis& axis = grid_->axes[a];
    corners[a] = axis.cells > 0 ? 2 : 1;
    slope[a] = axis.cells == 0 ? 0
               : axis.uniform  ? axis.inverse
                               : axis.inverseWidth[static_cast<std::size_t>(cell[a])];
  }
  const std::int64_t first = storedPoint(cell);
  out.cellId[p] = storedCell(cell);
  int c = 0;
  for (int k = 0; k < corners[2]; ++k)
    for (int j = 0; j < corners[1]; ++j)
      for (int i = 0; i < corners[0]; ++i, ++c) {
        out.id(p, c) = first + i * pointStride_[0] + j * pointStride_[1] + k * pointStride_[2];
        out.weight(p, c) = w[0][i] * w[1][j] * w[2][k];
        if (!out.wantGradients) continue;
        out.gradient(p, c, 0) = (i ? slope[0] : -slope[0]) * w[1][j] * w[2][k];
        out.gradient(p, c, 1) = (j ? slope[1] : -slope[1]) * w[0][i] * w[2][k];
        out.gradient(p, c, 2) = (k ? slope[2] : -slope[2]) * w[0][i] * w[1][j];
      }
}

}  // namespace tributary::detail
