// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "Tributary/Advection/MeshField.h"
#include "Tributary/Advection/detail/BrickOrder.h"
#include "Tributary/Advection/detail/MeshShapes.h"
#include "Tributary/Base/Box.h"

// How the cells of a MeshPiece are read.

namespace tributary::detail {

using Point = std::array<double, 3>;

/// The i-th tuple of an array of 3 components.
inline Point tuple(const ArrayView& array, std::int64_t i) {
  Point p;
  for (std::size_t a = 0; a < 3; ++a)
    p[a] = array.isDouble ? static_cast<const double*>(array.data)[3 * i + std::int64_t(a)]
                          : static_cast<const float*>(array.data)[3 * i + std::int64_t(a)];
  return p;
}

/// Points of a cell in the order of its topology (voxels and pixels are numbered otherwise), and in
/// the order of the piece for foreign cells.
struct CellPoints {
  CellPointIds ids;  ///< In the order of the piece.
  std::uint8_t type;
  std::int64_t operator[](int i) const {
    constexpr int Swapped[] = {0, 1, 3, 2, 4, 5, 7, 6};
    return ids[type == Voxel || type == Pixel ? Swapped[i] : i];
  }
};
inline CellPoints pointsOf(const MeshPiece& piece, std::int64_t cell) {
  return {piece.pointsOf(cell), piece.types[std::size_t(cell)]};
}

/// Whether the points of a piece move in the interval.
inline bool moves(const MeshPiece& piece) {
  return piece.laterPoints.data != nullptr;
}
/// The piece at the end of the interval, if its points move.
inline MeshPiece atEnd(const MeshPiece& piece) {
  MeshPiece later = piece;
  later.points = piece.laterPoints;
  later.laterPoints = {};
  return later;
}
/// A point at a share of the interval.
Point pointAt(const MeshPiece& piece, std::int64_t i, double share);

/// The points of a cell in the order of its topology, relative to the first of the piece's order.
void relativePoints(const MeshPiece& piece, std::int64_t cell, CellShape shape, V4* x);

/// The box of points. One number at a time: to put them into vectors and take them out takes
/// longer.
template <class Real>
class PointBox {
 public:
  explicit PointBox(const Real* first)
      : lo_{first[0], first[1], first[2]}, hi_{first[0], first[1], first[2]} {}
  void add(const Real* point) {
    for (int a = 0; a < 3; ++a) {
      lo_[a] = point[a] < lo_[a] ? point[a] : lo_[a];
      hi_[a] = point[a] > hi_[a] ? point[a] : hi_[a];
    }
  }
  [[nodiscard]] Box box() const {
    return {{{double(lo_[0]), double(lo_[1]), double(lo_[2])}},
            {{double(hi_[0]), double(hi_[1]), double(hi_[2])}}};
  }

 private:
  Real lo_[3], hi_[3];
};

/// The box of the points of a cell.
template <class Real>
inline Box pointBox(const Real* coordinates, const CellPointIds& ids) {
  PointBox<Real> box(coordinates + 3 * ids[0]);
  for (std::int64_t i = 1; i < ids.count; ++i) box.add(coordinates + 3 * ids[i]);
  return box.box();
}

/// The box of the points of a brick. It has a coordinate that is no number if a point has one, or
/// one that is infinite.
template <class Real>
inline Box pointBox(const Real* coordinates, const StructuredCells& grid, const Brick& brick) {
  const std::array<std::int64_t, 3>& points = grid.points();
  const auto at = [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    return coordinates + 3 * (i + points[0] * (j + points[1] * k));
  };
  const auto [u, v, w] = brick.begin;
  PointBox<Real> found(at(u, v, w));
  Real nothing = 0;  // a number only if all points are finite: PointBox does not notice all others
  for (std::int64_t k = w; k <= std::min(brick.end[2], points[2] - 1); ++k)
    for (std::int64_t j = v; j <= std::min(brick.end[1], points[1] - 1); ++j)
      for (std::int64_t i = u; i <= std::min(brick.end[0], points[0] - 1); ++i) {
        const Real* const point = at(i, j, k);
        found.add(point);
        nothing += 0 * (point[0] + point[1] + point[2]);
      }
  Box box = found.box();
  box.lo[0] += double(nothing);
  return box;
}

/// The extent of the points of a cell, or of several, in the whole interval if they move.
struct CellExtent {
  Box points;
  double length;  ///< The diagonal.

  CellExtent(const MeshPiece& piece, std::int64_t cell)
      : CellExtent(
            [&](const auto* coordinates) { return pointBox(coordinates, piece.pointsOf(cell)); },
            piece) {}
  /// Of a grid's cells.
  CellExtent(const MeshPiece& piece, const Brick& brick)
      : CellExtent(
            [&](const auto* coordinates) { return pointBox(coordinates, *piece.grid, brick); },
            piece) {}
  /// A box that holds all points that the cell may match.
  [[nodiscard]] Box box() const {
    Box box = points;
    const double slack = 2 * Gap * length;
    for (std::size_t a = 0; a < 3; ++a) {
      box.lo[a] -= slack;
      box.hi[a] += slack;
    }
    return box;
  }

 private:
  template <class BoxOf>
  CellExtent(BoxOf&& boxOf, const MeshPiece& piece) : points(boxIn(piece.points, boxOf)) {
    if (__builtin_expect(moves(piece), 0)) unite(boxIn(piece.laterPoints, boxOf));
    double squares[3];
    for (std::size_t a = 0; a < 3; ++a) {
      const double width = points.hi[a] - points.lo[a];
      squares[a] = width * width;
    }
    length = std::sqrt(squares[0] + squares[1] + squares[2]);
  }

  template <class BoxOf>
  static Box boxIn(const ArrayView& array, BoxOf&& boxOf) {
    return array.isDouble ? boxOf(static_cast<const double*>(array.data))
                          : boxOf(static_cast<const float*>(array.data));
  }

  /// A coordinate that is no number stays so.
  void unite(const Box& later) {
    for (std::size_t a = 0; a < 3; ++a) {
      points.lo[a] = points.lo[a] <= later.lo[a] ? points.lo[a] : later.lo[a] + 0 * points.lo[a];
      points.hi[a] = points.hi[a] >= later.hi[a] ? points.hi[a] : later.hi[a] + 0 * points.hi[a];
    }
  }
};

/// Whether a volume (an area times a length in 2-D) is zero up to rounding, for points in a box
/// with this diagonal.
[[nodiscard]] inline bool isFlat(double volume, double length) {
  constexpr double Rounding = 1e-15;
  return !(std::fabs(volume) > Rounding * length * length * length);
}

/// The diagonal of the box of some points.
[[nodiscard]] double diagonalOf(const V4* x, int count);

/// Whether a cell has no volume (no area in 2-D), up to rounding: such cells hold no point, and
/// faces that they share with real cells would have a side too many. If points move: whether that
/// is so at both ends of the interval.
[[nodiscard]] bool isFlat(const MeshPiece& piece, std::int64_t cell, const CellExtent& extent);

}  // namespace tributary::detail
