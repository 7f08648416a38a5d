// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "Common/CellSize.h"

#include "Tributary/Base/Index.h"

namespace tributary {

/// The cells of an image or a rectilinear grid along the axes.
struct StraightLattice {
  std::array<std::vector<double>, 3> axes;       ///< Coordinates of the points, ascending.
  std::optional<std::array<double, 3>> spacing;  ///< Of an image, whose cells are of one size.

  bool isFlat(std::size_t axis) const { return axes[axis].size() == 1; }
  /// The number of cells along an axis.
  std::int64_t cells(std::size_t axis) const {
    return std::max<std::int64_t>(static_cast<std::int64_t>(axes[axis].size()) - 1, 1);
  }
  /// The middle of the cells with a number along an axis.
  double middle(std::size_t axis, std::int64_t number) const {
    const double lo = axes[axis][index(number)];
    return isFlat(axis) ? lo : 0.5 * (lo + axes[axis][index(number + 1)]);
  }
  /// The place of a cell along each axis.
  std::array<std::int64_t, 3> placeOf(std::int64_t cell) const {
    const std::int64_t row = cell / cells(0);
    return {cell % cells(0), row % cells(1), row / cells(1)};
  }
  CellSize sizeOf(std::int64_t cell) const {
    const std::array<std::int64_t, 3> at = placeOf(cell);
    CellSize size;
    size.measure = isFlat(0) && isFlat(1) && isFlat(2) ? 0 : 1;
    for (std::size_t a = 0; a < 3; ++a) {
      size.centroid[a] = middle(a, at[a]);
      if (isFlat(a)) continue;
      size.measure *= spacing ? (*spacing)[a] : axes[a][index(at[a] + 1)] - axes[a][index(at[a])];
    }
    return size;
  }
};

}  // namespace tributary
