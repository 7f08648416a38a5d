// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/detail/MeshBlock.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "Tributary/Advection/detail/MeshCell.inl"
#include "Tributary/Advection/detail/MeshCells.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Records.h"

namespace tributary::detail {
namespace {

/// Gradients at the apex of a pyramid are taken at this distance from it, as a share of its height.
constexpr double Apex = 1e-6;

std::size_t recordBytes(const MeshPiece& piece, CellShape shape) {
  std::size_t bytes = sizeof(CellRecord);
  if (shape == CellShape::Foreign) return bytes;
  const std::size_t real = piece.velocity.isDouble ? 8 : 4;
  bytes += 4 * real * (piece.cellCentered ? 1 : shape == CellShape::Tetra ? 4 : 8);
  if (shape != CellShape::Tetra) bytes += 32 * 8;
  return (bytes + MeshView::Unit - 1) / MeshView::Unit * MeshView::Unit;
}

std::vector<std::int32_t> numberCells(const MeshPiece& piece,
                                      const std::vector<std::int64_t>& cells) {
  std::vector<std::int32_t> numbers;
  numbers.reserve(cells.size() + 1);
  std::size_t at = 0;
  for (const auto cell : cells) {
    numbers.push_back(static_cast<std::int32_t>(at));
    at += recordBytes(piece, shapeOf(piece.types[std::size_t(cell)])) / MeshView::Unit;
    if (at > std::size_t(std::numeric_limits<std::int32_t>::max()))
      throw Error("a block of mesh piece " + std::to_string(piece.piece) +
                  " is too large; use more blocks per rank");
  }
  numbers.push_back(static_cast<std::int32_t>(at));
  return numbers;
}

}  // namespace

MeshBlock::MeshBlock(BlockId id, const MeshPiece& piece, std::vector<std::int64_t> cells)
    : FieldBlock(id, piece.piece),
      piece_(piece),
      cells_(std::move(cells)),
      numbers_(numberCells(piece, cells_)),
      records_(std::size_t(numbers_.back()) * MeshView::Unit) {
  std::memset(records_.data(), 0, std::size_t(numbers_.back()) * MeshView::Unit);
  numbers_.pop_back();
  for (std::size_t i = 0; i < cells_.size(); ++i) fill(i);
  view_.records = records_.data();
  view_.isDouble = piece.velocity.isDouble;
  view_.foreign = foreignVelocity;
  view_.block = this;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const Box box = boxOf(i);
    if (i == 0) bounds_ = box;
    for (std::size_t a = 0; a < 3; ++a) {
      bounds_.lo[a] = std::min(bounds_.lo[a], box.lo[a]);
      bounds_.hi[a] = std::max(bounds_.hi[a], box.hi[a]);
    }
  }
  buildBins();
}

/// Box that holds all points the cell may match.
Box MeshBlock::boxOf(std::size_t index) const {
  const CellPoints points = pointsOf(piece_, cells_[index]);
  Box box;
  for (int i = 0; i < points.count; ++i) {
    const Point p = tuple(piece_.points, points.ids[i]);
    for (std::size_t a = 0; a < 3; ++a) {
      box.lo[a] = i ? std::min(box.lo[a], p[a]) : p[a];
      box.hi[a] = i ? std::max(box.hi[a], p[a]) : p[a];
    }
  }
  const double slack = 2 * Gap * record(index).length;
  for (std::size_t a = 0; a < 3; ++a) {
    box.lo[a] -= slack;
    box.hi[a] += slack;
  }
  return box;
}

template <class Real>
void MeshBlock::fillVelocity(CellRecord& cell, std::size_t index) {
  auto* out = reinterpret_cast<Real*>(reinterpret_cast<std::byte*>(&cell) + sizeof(CellRecord));
  const auto put = [&](int term, V4 v) {
    for (int a = 0; a < 3; ++a) out[4 * term + a] = static_cast<Real>(v[a]);
  };
  const auto velocity = [&](std::int64_t i) {
    const Point v = tuple(piece_.velocity, i);
    return V4{v[0], v[1], v[2], 0};
  };
  if (piece_.cellCentered) return put(0, velocity(cells_[index]));
  const CellPoints points = pointsOf(piece_, cells_[index]);
  V4 at[MostPoints], terms[8];
  for (int i = 0; i < topologyOf(cell.shape).points; ++i) at[i] = velocity(points[i]);
  if (cell.shape == CellShape::Tetra) {
    for (int i = 0; i < 4; ++i) put(i, at[i]);
    return;
  }
  termsOf(cell.shape, at, terms);
  for (int i = 0; i < 8; ++i) put(i, terms[i]);
}

void MeshBlock::fill(std::size_t index) {
  CellRecord& cell = record(index);
  cell.shape = shapeOf(piece_.types[std::size_t(cells_[index])]);
  std::fill(std::begin(cell.link), std::end(cell.link), CellRecord::NoLink);
  const CellPoints points = pointsOf(piece_, cells_[index]);
  V4 lo = splat(0), hi = splat(0), first = splat(0);
  for (int i = 0; i < points.count; ++i) {
    const Point p = tuple(piece_.points, points.ids[i]);
    const V4 x{p[0], p[1], p[2], 0};
    for (int a = 0; a < 3; ++a) {
      lo[a] = i ? std::min(lo[a], x[a]) : x[a];
      hi[a] = i ? std::max(hi[a], x[a]) : x[a];
    }
    if (i == 0) first = x;
  }
  for (int a = 0; a < 3; ++a) cell.anchor[a] = first[a];
  cell.length = norm(hi - lo);
  if (cell.shape == CellShape::Foreign) return;

  cell.terms = piece_.cellCentered ? 1 : cell.shape == CellShape::Tetra ? 4 : 8;
  if (piece_.velocity.isDouble)
    fillVelocity<double>(cell, index);
  else
    fillVelocity<float>(cell, index);

  V4 x[MostPoints];
  relativePoints(piece_, cells_[index], cell.shape, x);
  if (cell.shape == CellShape::Tetra)
    fillTetrahedron(cell, x);
  else
    fillGeometry(cell, x);
}

/// The map of a tetrahedron. @param x  its points, relative to the first
void MeshBlock::fillTetrahedron(CellRecord& cell, const V4* x) {
  const V4 rows[3] = {cross(x[2], x[3]), cross(x[3], x[1]), cross(x[1], x[2])};
  const double volume = dot3(x[1], rows[0]);
  for (int axis = 0; axis < 3; ++axis) {
    double sum = 0;
    for (int i = 0; i < 3; ++i) {
      cell.map[axis][i + 1] = rows[i][axis] / volume;
      sum += cell.map[axis][i + 1];
    }
    cell.map[axis][0] = -sum;
  }
}

/// The geometry and the affine map of a cell of another shape. @param x  its points, relative to
/// the first
void MeshBlock::fillGeometry(CellRecord& cell, const V4* x) {
  V4 terms[8];
  geometryOf(cell.shape, x, cell.length, terms);
  auto* geometry = const_cast<double*>(
      geometryTerms(cell, piece_.velocity.isDouble ? sizeof(double) : sizeof(float)));
  for (int i = 0; i < 8; ++i) store(geometry + 4 * i, terms[i]);

  V4 middle = middleOf(cell.shape), rows[3];
  double determinant = affineMap(geometry, middle, rows);
  const V4 center = polynomial(geometry, middle[0], middle[1], middle[2]);
  if (cell.shape == CellShape::Pyramid) {  // its map gives u, v, w: see locateInPyramid
    const V4 half = splat(0.5) * terms[4], du = terms[1] + half, dv = terms[2] + half,
             dw = splat(-0.5) * half - terms[3];
    rows[0] = cross(dv, dw);
    rows[1] = cross(dw, du);
    rows[2] = cross(du, dv);
    determinant = dot3(du, rows[0]);
    const double w = 1 - middle[2];
    middle = V4{middle[0] * w, middle[1] * w, w, 0};
  }
  for (int i = 0; i < 3; ++i) {
    const V4 row = rows[i] * splat(1 / determinant);
    store(cell.map[i], row);
    cell.map[i][3] = middle[i] - dot3(row, center);
  }
}

void MeshBlock::listFaces(const PointNames& names, int dimension, FaceLists& faces) const {
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const CellTopology& topology = topologyOf(record(i).shape);
    const CellPoints points = pointsOf(piece_, cells_[i]);
    for (int f = 0; f < topology.faces; ++f) {
      std::uint64_t h[MostFacePoints];
      bool elsewhere = true;
      for (int n = 0; n < topology.faceSize[f]; ++n) {
        const auto point = std::size_t(points[topology.face[f][n]]);
        h[n] = names.hashes[point];
        elsewhere = elsewhere && names.elsewhere[point];
      }
      FaceSide side{{}, id(), numbers_[i], f};
      if (faceKey(h, topology.faceSize[f], dimension, side.key))
        (elsewhere ? faces.outer : faces.inner).push_back(side);
    }
  }
}

void MeshBlock::link(const FacePair& pair) {
  if (!hasCell(pair.mine.cell) || pair.mine.face < 0 || pair.mine.face >= MostFaces ||
      pair.other.face < 0 || pair.other.face >= MostFaces)
    refuseMessage("a face that block " + std::to_string(id()) + " does not have");
  auto& cell = *reinterpret_cast<CellRecord*>(records_.data() +
                                              std::size_t(pair.mine.cell) * MeshView::Unit);
  const auto face = static_cast<std::size_t>(pair.mine.face);
  const auto entry = static_cast<std::int8_t>(pair.other.face);
  if (pair.other.block == id()) {
    if (pair.other.cell == pair.mine.cell) return;  // a cell folded onto itself
    cell.link[face] = pair.other.cell;
    cell.entry[face] = entry;
    return;
  }
  cell.link[face] = CellRecord::FirstRemote - static_cast<std::int32_t>(remote_.size());
  remote_.push_back({pair.other.block, pair.other.cell, entry});
  view_.remote = remote_.data();
}

std::vector<BlockId> MeshBlock::neighbors() const {
  std::vector<BlockId> blocks;
  for (const RemoteLink& link : remote_) blocks.push_back(link.block);
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  return blocks;
}

void MeshBlock::advance(const StepRules& rules, Span<Particle> particles, std::int64_t extraSteps,
                        TrajectoryLog& log) const {
  static const MeshKernel kernel = meshKernel();
  kernel(view_, rules, particles.data(), static_cast<std::int64_t>(particles.size()), extraSteps,
         log);
}

void MeshBlock::buildBins() {
  if (cells_.empty()) return;
  // About one cell per bin, bins as near to cubes as the box allows.
  double volume = 1;
  int axes = 0;
  for (std::size_t a = 0; a < 3; ++a)
    if (bounds_.hi[a] > bounds_.lo[a]) {
      volume *= bounds_.hi[a] - bounds_.lo[a];
      ++axes;
    }
  const double edge = axes ? std::pow(volume / static_cast<double>(cells_.size()), 1.0 / axes) : 1;
  for (std::size_t a = 0; a < 3; ++a) {
    // Not a number if both are infinite, as points may be: one bin.
    const double wanted = edge > 0 ? (bounds_.hi[a] - bounds_.lo[a]) / edge : 1;
    bins_[a] = wanted > 1 ? std::int64_t(std::min(wanted, 1024.0)) : 1;
  }
  const auto binOf = [&](std::size_t a, double x) {
    const double width = bounds_.hi[a] - bounds_.lo[a];
    const double u = width > 0 ? (x - bounds_.lo[a]) / width * double(bins_[a]) : 0;
    return std::clamp<std::int64_t>(u > 0 ? std::int64_t(u) : 0, 0, bins_[a] - 1);
  };
  const auto forEachBin = [&](std::size_t cell, auto&& visit) {
    const Box box = boxOf(cell);
    std::int64_t lo[3], hi[3];
    for (std::size_t a = 0; a < 3; ++a) {
      lo[a] = binOf(a, box.lo[a]);
      hi[a] = binOf(a, box.hi[a]);
    }
    for (auto k = lo[2]; k <= hi[2]; ++k)
      for (auto j = lo[1]; j <= hi[1]; ++j)
        for (auto i = lo[0]; i <= hi[0]; ++i) visit(std::size_t((k * bins_[1] + j) * bins_[0] + i));
  };
  binFirst_.assign(std::size_t(bins_[0] * bins_[1] * bins_[2]) + 1, 0);
  for (std::size_t c = 0; c < cells_.size(); ++c)
    forEachBin(c, [&](std::size_t bin) { ++binFirst_[bin + 1]; });
  std::partial_sum(binFirst_.begin(), binFirst_.end(), binFirst_.begin());
  binCells_.resize(std::size_t(binFirst_.back()));
  auto cursor = binFirst_;
  for (std::size_t c = 0; c < cells_.size(); ++c)
    forEachBin(c, [&](std::size_t bin) {
      binCells_[std::size_t(cursor[bin]++)] = static_cast<std::int32_t>(c);
    });
}

/// Hash of the data that an evaluation in the cell depends on.
std::uint64_t MeshBlock::contentOf(std::size_t index) const {
  const CellPoints points = pointsOf(piece_, cells_[index]);
  std::uint64_t hash = pointHash(std::int64_t(2 * points.type + piece_.velocity.isDouble));
  const auto add = [&](const ArrayView& array, std::int64_t i) {
    hash = pointHash(static_cast<std::int64_t>(hash ^ pointHash(tuple(array, i).data())));
  };
  for (int i = 0; i < points.count; ++i) {
    add(piece_.points, points.ids[i]);
    if (!piece_.cellCentered) add(piece_.velocity, points.ids[i]);
  }
  if (piece_.cellCentered) add(piece_.velocity, cells_[index]);
  return hash;
}

/// How well one cell holds a point; no block is named if it does not.
CellMatch MeshBlock::match(std::size_t index, const double point[3]) const {
  const CellRecord& cell = record(index);
  CellMatch found;
  // Not all bins and blocks search for points beyond the box, so these must match nowhere.
  if (!boxOf(index).contains(point)) return found;
  double violation = 0;
  if (cell.shape == CellShape::Foreign) {
    std::vector<std::int64_t> ids(static_cast<std::size_t>(maximumPoints()));
    std::vector<double> weights(ids.size());
    if (!piece_.foreign || piece_.foreign->evaluate(cells_[index], point, ids.data(),
                                                    weights.data(), nullptr, violation) == 0)
      return found;
  } else {
    const InCell at =
        locateInCell(cell, view_.isDouble ? 8 : 4, V4{point[0], point[1], point[2], 0}, true);
    if (at.face == Unknown) return found;
    if ((cell.shape == CellShape::Triangle || cell.shape == CellShape::Quad) &&
        !(std::fabs(at.r[2]) <= Sheet))
      return found;
    violation = at.violation;
  }
  if (!(violation <= Gap)) return found;
  found.violation = violation;
  found.size = cell.length;
  const CellPoints points = pointsOf(piece_, cells_[index]);
  for (std::size_t a = 0; a < 3; ++a) {
    for (int i = 0; i < points.count; ++i) found.key[a] += tuple(piece_.points, points.ids[i])[a];
    found.key[a] /= static_cast<double>(points.count);
  }
  found.content = contentOf(index);
  found.block = id();
  found.cell = numbers_[index];
  return found;
}

void MeshBlock::find(const double point[3], CellMatch& best) const {
  if (cells_.empty() || !bounds_.contains(point)) return;
  std::int64_t bin[3];
  for (std::size_t a = 0; a < 3; ++a) {
    const double width = bounds_.hi[a] - bounds_.lo[a];
    const double u = width > 0 ? (point[a] - bounds_.lo[a]) / width * double(bins_[a]) : 0;
    bin[a] = std::clamp<std::int64_t>(std::int64_t(u), 0, bins_[a] - 1);
  }
  const auto at = std::size_t((bin[2] * bins_[1] + bin[1]) * bins_[0] + bin[0]);
  for (auto i = binFirst_[at]; i < binFirst_[at + 1]; ++i) {
    const CellMatch found = match(std::size_t(binCells_[std::size_t(i)]), point);
    if (found.found() && found.betterThan(best)) best = found;
  }
}

bool MeshBlock::foreignVelocity(const void* self, std::int32_t number, const double point[3],
                                bool accept, double velocity[3]) {
  const auto& block = *static_cast<const MeshBlock*>(self);
  const auto index = std::size_t(block.indexOf(number));
  const ForeignCells* foreign = block.piece_.foreign;
  if (!foreign) return false;
  std::vector<std::int64_t> ids(static_cast<std::size_t>(block.maximumPoints()));
  std::vector<double> weights(ids.size());
  double violation = 0;
  const int count =
      foreign->evaluate(block.cells_[index], point, ids.data(), weights.data(), nullptr, violation);
  if (count == 0 || (violation > 0 && !accept)) return false;
  for (int a = 0; a < 3; ++a) velocity[a] = 0;
  if (block.piece_.cellCentered) {
    const Point v = tuple(block.piece_.velocity, block.cells_[index]);
    std::copy(v.begin(), v.end(), velocity);
    return true;
  }
  for (int i = 0; i < count; ++i) {
    const Point v = tuple(block.piece_.velocity, ids[std::size_t(i)]);
    for (std::size_t a = 0; a < 3; ++a) velocity[a] += weights[std::size_t(i)] * v[a];
  }
  return true;
}

void MeshBlock::weights(const StepRules& rules, Span<const TrajectoryPoint> points,
                        Weights& out) const {
  const auto stride = std::size_t(maximumPoints());
  out.stride = int(stride);
  out.count.resize(points.size());
  out.cellId.resize(points.size());
  out.id.resize(points.size() * stride);
  out.weight.resize(points.size() * stride);
  if (out.wantGradients) out.gradient.assign(3 * points.size() * stride, 0);
  for (std::size_t p = 0; p < points.size(); ++p) {
    double x[3] = {points[p].x[0], points[p].x[1], points[p].x[2]};
    wrapIntoPeriod(rules, x);
    const auto index = std::size_t(indexOf(points[p].cell));
    const CellRecord& cell = record(index);
    out.cellId[p] = cells_[index];
    auto* ids = &out.id[p * stride];
    auto* weight = &out.weight[p * stride];
    auto* gradient = out.wantGradients ? &out.gradient[3 * p * stride] : nullptr;
    if (cell.shape == CellShape::Foreign) {
      double violation;
      out.count[p] = piece_.foreign->evaluate(cells_[index], x, ids, weight, gradient, violation);
      continue;
    }
    const CellTopology& topology = topologyOf(cell.shape);
    const CellPoints nodes = pointsOf(piece_, cells_[index]);
    out.count[p] = topology.points;
    for (int i = 0; i < topology.points; ++i) ids[i] = nodes[i];
    const std::size_t real = view_.isDouble ? 8 : 4;
    InCell at = locateInCell(cell, real, V4{x[0], x[1], x[2], 0}, true);
    if (cell.shape == CellShape::Tetra) {
      for (int i = 0; i < 4; ++i) {
        weight[i] = at.r[i];
        for (int a = 0; gradient && a < 3; ++a) gradient[3 * i + a] = cell.map[a][i];
      }
      continue;
    }
    double derivative[MostPoints][3];
    shapeFunctions(cell.shape, at.r, weight, derivative);
    if (!gradient) continue;
    // d / dx = inverse of the transposed Jacobian times d / dr, which has no value at an apex.
    V4 rows[3];
    if (cell.shape == CellShape::Pyramid && at.r[2] > 1 - Apex) {
      at.r[2] = 1 - Apex;
      double unused[MostPoints];
      shapeFunctions(cell.shape, at.r, unused, derivative);
    }
    const double determinant = affineMap(geometryTerms(cell, real), at.r, rows);
    const double inverse = determinant != 0 ? 1 / determinant : 0;
    for (int i = 0; i < topology.points; ++i)
      for (int a = 0; a < 3; ++a)
        gradient[3 * i + a] = (derivative[i][0] * rows[0][a] + derivative[i][1] * rows[1][a] +
                               derivative[i][2] * rows[2][a]) *
                              inverse;
  }
}

}  // namespace tributary::detail
