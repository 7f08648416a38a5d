// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "Tributary/Advection/MeshField.h"
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

/// The points of a cell in the order of its topology, relative to the first of the piece's order.
void relativePoints(const MeshPiece& piece, std::int64_t cell, CellShape shape, V4* x);

/// The box of the points of a cell.
template <class Real>
inline Box pointBox(const Real* coordinates, const CellPointIds& ids) {
  // One number at a time: to put them into vectors and take them out takes longer.
  const Real* const first = coordinates + 3 * ids[0];
  Real lo[3] = {first[0], first[1], first[2]}, hi[3] = {first[0], first[1], first[2]};
  for (std::int64_t i = 1; i < ids.count; ++i) {
    const Real* const p = coordinates + 3 * ids[i];
    for (int a = 0; a < 3; ++a) {
      lo[a] = p[a] < lo[a] ? p[a] : lo[a];
      hi[a] = p[a] > hi[a] ? p[a] : hi[a];
    }
  }
  return {{{double(lo[0]), double(lo[1]), double(lo[2])}},
          {{double(hi[0]), double(hi[1]), double(hi[2])}}};
}

/// The extent of the points of a cell.
struct CellExtent {
  Box points;
  double length;  ///< The diagonal.

  CellExtent(const MeshPiece& piece, std::int64_t cell) {
    const CellPointIds ids = piece.pointsOf(cell);
    points = piece.points.isDouble ? pointBox(static_cast<const double*>(piece.points.data), ids)
                                   : pointBox(static_cast<const float*>(piece.points.data), ids);
    double squares[3];
    for (std::size_t a = 0; a < 3; ++a) {
      const double width = points.hi[a] - points.lo[a];
      squares[a] = width * width;
    }
    length = std::sqrt(squares[0] + squares[1] + squares[2]);
  }
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
};

/// Whether a cell has no volume (no area in 2-D), up to rounding: such cells hold no point, and
/// faces that they share with real cells would have a side too many.
[[nodiscard]] bool isFlat(const MeshPiece& piece, std::int64_t cell, const CellExtent& extent);

}  // namespace tributary::detail
