// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
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
  const std::int64_t* ids;
  std::int64_t count;
  std::uint8_t type;
  std::int64_t operator[](int i) const {
    constexpr int Swapped[] = {0, 1, 3, 2, 4, 5, 7, 6};
    return ids[type == Voxel || type == Pixel ? Swapped[i] : i];
  }
};
inline CellPoints pointsOf(const MeshPiece& piece, std::int64_t cell) {
  const auto begin = piece.offsets[std::size_t(cell)], end = piece.offsets[std::size_t(cell) + 1];
  return {piece.connectivity.data() + begin, end - begin, piece.types[std::size_t(cell)]};
}

/// The points of a cell in the order of its topology, relative to the first of the piece's order.
void relativePoints(const MeshPiece& piece, std::int64_t cell, CellShape shape, V4* x);

/// The extent of the points of a cell.
struct CellExtent {
  Box points;
  double length;  ///< The diagonal.

  CellExtent(const MeshPiece& piece, std::int64_t cell);
  /// A box that holds all points that the cell may match.
  [[nodiscard]] Box box() const;
};

/// Whether a cell has no volume (no area in 2-D), up to rounding: such cells hold no point, and
/// faces that they share with real cells would have a side too many.
[[nodiscard]] bool isFlat(const MeshPiece& piece, std::int64_t cell, const CellExtent& extent);

}  // namespace tributary::detail
