// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/detail/StructuredBlock.h"

#include <algorithm>
#include <cmath>

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

void StructuredBlock::find(const double point[3], CellMatch& best) const {
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

void StructuredBlock::weights(const StepRules& rules, Span<const TrajectoryPoint> points,
                              Weights& out) const {
  std::array<int, 3> corners;  // 1 along a flat axis
  for (std::size_t a = 0; a < 3; ++a) corners[a] = grid_->axes[a].cells > 0 ? 2 : 1;
  const int stride = corners[0] * corners[1] * corners[2];
  const std::size_t n = points.size();
  out.stride = stride;
  out.count.assign(n, stride);
  out.id.resize(n * static_cast<std::size_t>(stride));
  out.weight.resize(out.id.size());
  out.cellId.resize(n);
  if (out.wantGradients) out.gradient.resize(3 * out.id.size());
  for (std::size_t p = 0; p < n; ++p) {
    double x[3] = {points[p].x[0], points[p].x[1], points[p].x[2]};
    wrapIntoPeriod(rules, x);
    Index3 cell;
    double f[3];
    grid_->locate(x, cell, f);
    double w[3][2], slope[3];
    for (std::size_t a = 0; a < 3; ++a) {
      w[a][0] = 1 - f[a];
      w[a][1] = f[a];
      const GridAxis& axis = grid_->axes[a];
      slope[a] = axis.cells == 0 ? 0
                 : axis.uniform  ? axis.inverse
                                 : axis.inverseWidth[static_cast<std::size_t>(cell[a])];
    }
    const std::int64_t first = storedPoint(cell);
    out.cellId[p] = storedCell(cell);
    auto* id = &out.id[p * static_cast<std::size_t>(stride)];
    auto* weight = &out.weight[p * static_cast<std::size_t>(stride)];
    auto* gradient =
        out.wantGradients ? &out.gradient[3 * p * static_cast<std::size_t>(stride)] : nullptr;
    int c = 0;
    for (int k = 0; k < corners[2]; ++k)
      for (int j = 0; j < corners[1]; ++j)
        for (int i = 0; i < corners[0]; ++i, ++c) {
          id[c] = first + i * pointStride_[0] + j * pointStride_[1] + k * pointStride_[2];
          weight[c] = w[0][i] * w[1][j] * w[2][k];
          if (gradient) {
            gradient[3 * c] = (i ? slope[0] : -slope[0]) * w[1][j] * w[2][k];
            gradient[3 * c + 1] = (j ? slope[1] : -slope[1]) * w[0][i] * w[2][k];
            gradient[3 * c + 2] = (k ? slope[2] : -slope[2]) * w[0][i] * w[1][j];
          }
        }
  }
}

}  // namespace tributary::detail
