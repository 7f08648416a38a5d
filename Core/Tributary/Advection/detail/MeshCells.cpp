// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/detail/MeshCells.h"

#include <algorithm>
#include <cmath>

#include "Tributary/Advection/detail/MeshCell.inl"

namespace tributary::detail {

void relativePoints(const MeshPiece& piece, std::int64_t cell, CellShape shape, V4* x) {
  const CellPoints points = pointsOf(piece, cell);
  const Point first = tuple(piece.points, points.ids[0]);
  for (int i = 0; i < topologyOf(shape).points; ++i) {
    const Point p = tuple(piece.points, points[i]);
    x[i] = V4{p[0] - first[0], p[1] - first[1], p[2] - first[2], 0};
  }
}

namespace {

/// The box of a cell's points, and its diagonal.
double pointBox(const MeshPiece& piece, std::int64_t cell, Box& box) {
  const CellPoints points = pointsOf(piece, cell);
  for (std::int64_t i = 0; i < points.count; ++i) {
    const Point p = tuple(piece.points, points.ids[i]);
    for (std::size_t a = 0; a < 3; ++a) {
      box.lo[a] = i ? std::min(box.lo[a], p[a]) : p[a];
      box.hi[a] = i ? std::max(box.hi[a], p[a]) : p[a];
    }
  }
  const V4 diagonal{box.hi[0] - box.lo[0], box.hi[1] - box.lo[1], box.hi[2] - box.lo[2], 0};
  return norm(diagonal);
}

}  // namespace

double lengthOf(const MeshPiece& piece, std::int64_t cell) {
  Box box;
  return pointBox(piece, cell, box);
}

Box boxOf(const MeshPiece& piece, std::int64_t cell) {
  Box box;
  const double slack = 2 * Gap * pointBox(piece, cell, box);
  for (std::size_t a = 0; a < 3; ++a) {
    box.lo[a] -= slack;
    box.hi[a] += slack;
  }
  return box;
}

bool isFlat(const MeshPiece& piece, std::int64_t cell) {
  const CellShape shape = shapeOf(piece.types[std::size_t(cell)]);
  if (shape == CellShape::Foreign) return false;
  V4 x[MostPoints], terms[8], rows[3];
  relativePoints(piece, cell, shape, x);
  V4 lo = x[0], hi = x[0];
  for (int i = 1; i < topologyOf(shape).points; ++i)
    for (int a = 0; a < 3; ++a) {
      lo[a] = std::min(lo[a], x[i][a]);
      hi[a] = std::max(hi[a], x[i][a]);
    }
  const double length = norm(hi - lo);
  double volume;
  if (shape == CellShape::Tetra) {
    volume = dot3(x[1], cross(x[2], x[3]));
  } else {
    geometryOf(shape, x, length, terms);
    double geometry[32];
    for (int i = 0; i < 8; ++i) store(geometry + 4 * i, terms[i]);
    volume = affineMap(geometry, middleOf(shape), rows);
  }
  constexpr double Rounding = 1e-15;
  return !(std::fabs(volume) > Rounding * length * length * length);
}

}  // namespace tributary::detail
