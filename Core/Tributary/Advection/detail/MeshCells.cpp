// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/detail/MeshCells.h"

#include <algorithm>
#include <cmath>

#include "Tributary/Advection/detail/kernels/MeshCell.inl"

namespace tributary::detail {

Point pointAt(const MeshPiece& piece, std::int64_t i, double share) {
  Point x = tuple(piece.points, i);
  if (!moves(piece)) return x;
  const Point later = tuple(piece.laterPoints, i);
  for (std::size_t a = 0; a < 3; ++a) x[a] = valueBetween(x[a], later[a], share);
  return x;
}

double diagonalOf(const V4* x, int count) {
  V4 lo = x[0], hi = x[0];
  for (int i = 1; i < count; ++i)
    for (int a = 0; a < 3; ++a) {
      lo[a] = std::min(lo[a], x[i][a]);
      hi[a] = std::max(hi[a], x[i][a]);
    }
  return norm(hi - lo);
}

void relativePoints(const MeshPiece& piece, std::int64_t cell, CellShape shape, V4* x) {
  const CellPoints points = pointsOf(piece, cell);
  const Point first = tuple(piece.points, points.ids[0]);
  for (int i = 0; i < topologyOf(shape).points; ++i) {
    const Point p = tuple(piece.points, points[i]);
    x[i] = V4{p[0] - first[0], p[1] - first[1], p[2] - first[2], 0};
  }
}

namespace {

template <class Real>
V4 loadPoint(const MeshPiece& piece, std::int64_t id) {
  const Real* p = static_cast<const Real*>(piece.points.data) + 3 * id;
  return V4{double(p[0]), double(p[1]), double(p[2]), 0};
}

/// Six times the volume of a tetrahedron, the volume of a hexahedron, as good as needed to see that
/// a cell is not flat; 0 for others.
template <class Real>
double roughVolume(const MeshPiece& piece, const CellPoints& points) {
  V4 x[8];
  switch (shapeOf(points.type)) {
    case CellShape::Tetra:
      for (int i = 0; i < 4; ++i) x[i] = loadPoint<Real>(piece, points.ids[i]);
      return dot3(x[1] - x[0], cross(x[2] - x[0], x[3] - x[0]));
    case CellShape::Box: {
      for (int i = 0; i < 8; ++i) x[i] = loadPoint<Real>(piece, points[i]);
      const V4 a = x[6] - x[0], b = x[7] - x[1], c = x[4] - x[2], d = x[5] - x[3];
      return dot3(a - b - c + d, cross(a + b - c - d, a + b + c + d)) * (1.0 / 64);
    }
    default:
      return 0;
  }
}

bool isPlainlyNotFlat(const MeshPiece& piece, std::int64_t cell, double length) {
  constexpr double Plainly = 1e-12;  // far above isFlat()'s bound and the rounding of both
  const CellPoints points = pointsOf(piece, cell);
  const double volume = piece.points.isDouble ? roughVolume<double>(piece, points)
                                              : roughVolume<float>(piece, points);
  return std::fabs(volume) > Plainly * length * length * length;
}

}  // namespace

bool isFlat(const MeshPiece& piece, std::int64_t cell, const CellExtent& extent) {
  const CellShape shape = shapeOf(piece.types[std::size_t(cell)]);
  if (shape == CellShape::Foreign || isPlainlyNotFlat(piece, cell, extent.length)) return false;
  if (moves(piece)) {
    const MeshPiece later = atEnd(piece);
    const CellExtent laterExtent(later, cell);
    MeshPiece earlier = piece;
    earlier.laterPoints = {};
    return isFlat(earlier, cell, CellExtent(earlier, cell)) && isFlat(later, cell, laterExtent);
  }
  V4 x[MostPoints], terms[8], rows[3];
  relativePoints(piece, cell, shape, x);
  const double length = diagonalOf(x, topologyOf(shape).points);
  double volume;
  if (shape == CellShape::Tetra) {
    volume = dot3(x[1], cross(x[2], x[3]));
  } else {
    geometryOf(shape, x, length, terms);
    double geometry[32];
    for (int i = 0; i < 8; ++i) store(geometry + 4 * i, terms[i]);
    volume = affineMap(geometry, middleOf(shape), rows);
  }
  return isFlat(volume, length);
}

}  // namespace tributary::detail
