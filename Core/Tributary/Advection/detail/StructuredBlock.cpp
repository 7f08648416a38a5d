// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/detail/StructuredBlock.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "Tributary/Advection/Interpolation.h"
#include "Tributary/Base/CellTypes.h"
#include "Tributary/Base/Error.h"

namespace tributary::detail {
namespace {

/// The cells of a box, or their points.
struct CellLattice {
  std::array<std::int64_t, 3> size;  ///< Cells, or points, along each axis.

  CellLattice(const StructuredGrid& grid, const CellBox& box, bool ofPoints) {
    for (std::size_t a = 0; a < 3; ++a)
      size[a] = std::int64_t(box.hi[a]) - box.lo[a] + (ofPoints && grid.axes[a].cells > 0 ? 1 : 0);
  }
  [[nodiscard]] std::int64_t tuples() const { return size[0] * size[1] * size[2]; }
};

}  // namespace

StructuredBlock::StructuredBlock(BlockId id, int piece, std::shared_ptr<const StructuredGrid> grid,
                                 const StructuredArrays& arrays, const CellBox& owned,
                                 const CellBox& evaluated, std::vector<BlockId> neighbors)
    : FieldBlock(id, piece),
      grid_(std::move(grid)),
      velocity_(arrays.velocity),
      laterVelocity_(arrays.laterVelocity),
      owned_(owned),
      neighbors_(std::move(neighbors)) {
  view_.grid = grid_.get();
  view_.velocity = velocity_.data;
  view_.laterVelocity = laterVelocity_.data;
  view_.isDouble = velocity_.isDouble;
  view_.cellCentered = arrays.cellCentered;
  view_.onFaces = arrays.onFaces;
  view_.hidden = arrays.hidden;
  double width2 = 0;
  std::int64_t points = 1, cells = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    const GridAxis& axis = grid_->axes[a];
    const std::int64_t stored = std::int64_t(arrays.stored.hi[a]) - arrays.stored.lo[a];
    view_.lo[a] = evaluated.lo[a];
    view_.count[a] = owned.empty() ? 0 : evaluated.hi[a] - evaluated.lo[a];
    view_.storedLo[a] = arrays.stored.lo[a];
    pointStride_[a] = points;
    view_.cellStride[a] = cells;
    points *= axis.cells == 0 ? 1 : stored + 1;
    cells *= std::max<std::int64_t>(stored, 1);
    if (axis.cells == 0)
      view_.flat = true;
    else
      width2 += axis.spacing * axis.spacing;
  }
  view_.stride = view_.cellCentered ? view_.cellStride : pointStride_;
  for (std::size_t a = 0; a < 3; ++a) view_.firstTuple += view_.storedLo[a] * view_.stride[a];
  if (!view_.flat && !view_.cellCentered &&
      !view_.onFaces)  // the far corner's tuple must not be the last
    view_.plainTuples = points - 1 - (pointStride_[0] + pointStride_[1] + pointStride_[2]);
  view_.cellLength = std::sqrt(width2);
}

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

CellBox StructuredBlock::evaluated() const {
  CellBox box;
  for (std::size_t a = 0; a < 3; ++a) {
    box.lo[a] = view_.lo[a];
    box.hi[a] = view_.lo[a] + view_.count[a];
  }
  return box;
}

std::size_t StructuredBlock::velocityBytes() const {
  return 3 * (velocity_.isDouble ? sizeof(double) : sizeof(float));
}

/// Appends the tuples of the cells that are evaluated here, or of their points.
void StructuredBlock::writeRows(Writer& writer, const void* tuples, std::size_t bytes,
                                bool ofPoints) const {
  const auto* const values = static_cast<const std::byte*>(tuples);
  const CellLattice lattice(*grid_, evaluated(), ofPoints);
  const std::array<std::int64_t, 3>& stride = ofPoints ? pointStride_ : view_.cellStride;
  const std::size_t row = std::size_t(lattice.size[0]) * bytes;
  std::byte* out = writer.extend(std::size_t(lattice.tuples()) * bytes);
  const std::int64_t first = ofPoints ? storedPoint(view_.lo) : storedCell(view_.lo);
  for (std::int64_t k = 0; k < lattice.size[2]; ++k)
    for (std::int64_t j = 0; j < lattice.size[1]; ++j, out += row)
      std::memcpy(out, values + std::size_t(first + j * stride[1] + k * stride[2]) * bytes, row);
}

/// The beginning of a copy.
struct StructuredBlock::Copied {
  /// What the tuples of the velocity belong to.
  enum class Site : std::uint8_t { Points, Cells, Faces };

  std::int32_t grid;
  CellBox owned, evaluated;
  std::uint8_t isDouble;
  Site site;
  std::uint8_t hasHidden, hasLater;
};

CopySize StructuredBlock::copySize() const {
  const auto tuples = [&](bool ofPoints) {
    return std::size_t(CellLattice(*grid_, evaluated(), ofPoints).tuples());
  };
  const std::size_t velocities = laterVelocity_.data ? 2 : 1;
  const std::size_t arrays = velocities * tuples(!view_.cellCentered) * velocityBytes() +
                             (view_.hidden ? tuples(false) : 0);
  return {sizeof(Copied) + arrays, sizeof *this + arrays};
}

void StructuredBlock::writeCopy(Writer& writer) const {
  const Copied::Site site = view_.cellCentered ? Copied::Site::Cells
                            : view_.onFaces    ? Copied::Site::Faces
                                               : Copied::Site::Points;
  writer.value(Copied{grid_->number, owned_, evaluated(), velocity_.isDouble, site,
                      view_.hidden != nullptr, laterVelocity_.data != nullptr});
  writeRows(writer, velocity_.data, velocityBytes(), !view_.cellCentered);
  if (laterVelocity_.data)
    writeRows(writer, laterVelocity_.data, velocityBytes(), !view_.cellCentered);
  if (view_.hidden) writeRows(writer, view_.hidden, 1, false);
}

void StructuredBlock::writePointData(Writer& writer, const void* tuples, std::size_t bytes) const {
  writeRows(writer, tuples, bytes, true);
}

void StructuredBlock::writeCellData(Writer& writer, const void* tuples, std::size_t bytes) const {
  writeRows(writer, tuples, bytes, false);
}

std::int64_t StructuredBlock::copiedCells() const {
  return CellLattice(*grid_, evaluated(), false).tuples();
}

std::int64_t StructuredBlock::copiedPoints() const {
  return CellLattice(*grid_, evaluated(), true).tuples();
}

namespace {

/// A block with arrays of its own.
class CopiedStructuredBlock : public StructuredBlock {
 public:
  CopiedStructuredBlock(BlockId id, int piece, std::shared_ptr<const StructuredGrid> grid,
                        const StructuredArrays& arrays, const CellBox& owned,
                        std::array<Bytes, 3> viewed)
      : StructuredBlock(id, piece, std::move(grid), arrays, owned, arrays.stored, {}),
        viewed_(std::move(viewed)) {}

 private:
  std::array<Bytes, 3> viewed_;  // by the base class
};

bool contains(const CellBox& box, const CellBox& other) {
  bool does = true;
  for (std::size_t a = 0; a < 3; ++a)
    does = does && box.lo[a] <= other.lo[a] && other.hi[a] <= box.hi[a];
  return does;
}

Bytes bytesOf(Reader& reader, std::size_t size) {
  const auto raw = reader.raw(size);
  Bytes bytes;
  append(bytes, raw.data(), raw.size());
  return bytes;
}

}  // namespace

std::unique_ptr<FieldBlock> StructuredBlock::read(BlockId id, int piece,
                                                  const StructuredGrids& grids, Reader& reader) {
  const auto copied = reader.value<Copied>();
  const auto grid = grids.find(copied.grid);
  if (grid == grids.end()) refuseMessage("a block of an unknown grid");
  CellBox whole;
  for (std::size_t a = 0; a < 3; ++a)
    whole.hi[a] = std::int32_t(std::max<std::int64_t>(grid->second->axes[a].cells, 1));
  if (copied.owned.empty() || !contains(copied.evaluated, copied.owned) ||
      !contains(whole, copied.evaluated))
    refuseMessage("a block that its grid does not have");
  if (copied.site > Copied::Site::Faces) refuseMessage("velocities of an unknown kind");
  StructuredArrays arrays{copied.evaluated,
                          {},
                          {},
                          copied.site == Copied::Site::Cells,
                          copied.site == Copied::Site::Faces};
  const auto tuplesOf = [&](bool ofPoints) {
    const CellLattice lattice(*grid->second, copied.evaluated, ofPoints);
    std::size_t most = reader.remaining();  // with at least one byte each
    for (const std::int64_t size : lattice.size) most /= std::size_t(size);
    if (most == 0) refuseMessage("a block without its values");
    return lattice.tuples();
  };
  arrays.velocity.isDouble = copied.isDouble != 0;
  arrays.velocity.tuples = tuplesOf(!arrays.cellCentered);
  const std::size_t real = arrays.velocity.isDouble ? sizeof(double) : sizeof(float);
  const std::size_t size = std::size_t(arrays.velocity.tuples) * 3 * real;
  Bytes velocity = bytesOf(reader, size), later, hidden;
  arrays.velocity.data = velocity.data();
  if (copied.hasLater) {
    later = bytesOf(reader, size);
    arrays.laterVelocity = arrays.velocity;
    arrays.laterVelocity.data = later.data();
  }
  if (copied.hasHidden) {
    hidden = bytesOf(reader, std::size_t(tuplesOf(false)));
    arrays.hidden = reinterpret_cast<const std::uint8_t*>(hidden.data());
  }
  return std::make_unique<CopiedStructuredBlock>(
      id, piece, grid->second, arrays, copied.owned,
      std::array<Bytes, 3>{std::move(velocity), std::move(later), std::move(hidden)});
}

}  // namespace tributary::detail
