// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

namespace tributary {

/// The points of a cell. A view.
struct CellPointIds {
  std::int64_t first;
  const std::int64_t* differences;  ///< From `first`.
  std::int64_t count;

  std::int64_t operator[](std::int64_t i) const { return first + differences[i]; }
};

/// The cells of a structured grid: hexahedra, or cells of lower dimension if it has one layer of
/// points along an axis. Cells and points are numbered with the first axis fastest, as by VTK.
class StructuredCells {
 public:
  /// No cells.
  StructuredCells() = default;
  /// Throws Error if there is no point along an axis, or more points than 64 bits can count.
  /// @param points  along each axis
  explicit StructuredCells(const std::array<std::int64_t, 3>& points);

  /// Axes along which there is more than one layer of points.
  int dimension() const { return dimension_; }
  /// Along each axis.
  const std::array<std::int64_t, 3>& points() const { return points_; }
  /// Along each axis, at least 1.
  const std::array<std::int64_t, 3>& cells() const { return cells_; }
  /// The number of points.
  std::int64_t pointCount() const { return points_[0] * points_[1] * points_[2]; }
  /// The number of cells.
  std::int64_t cellCount() const { return cells_[0] * cells_[1] * cells_[2]; }
  /// The points of a cell, in VTK's order.
  CellPointIds pointsOf(std::int64_t cell) const {
    const std::int64_t row = cell / cells_[0], layer = row / cells_[1];
    return {cell + row * (points_[0] - cells_[0]) + layer * points_[0] * (points_[1] - cells_[1]),
            corners_.data(), std::int64_t{1} << dimension_};
  }
  /// The cell beyond a face, or -1. Faces 2 a and 2 a + 1 are those across the a-th axis with more
  /// than one layer of points, at its beginning and its end.
  std::int64_t neighborOf(std::int64_t cell, int face) const;

 private:
  int dimension_ = 0;
  std::array<std::int64_t, 3> points_{}, cells_{};
  std::array<std::int64_t, 8> corners_{};  // of each cell, as differences from its first point
};

}  // namespace tributary
