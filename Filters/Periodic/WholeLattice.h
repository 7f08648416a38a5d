// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "Common/Leaves.h"

#include "Tributary/Base/Span.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// How the coordinates of a grid may change with the index along an axis: in both ways if there is
/// one column, and in none if neither is true. Ranks send it: any bytes are a value.
struct AxisDirection {
  std::uint8_t increases = true, decreases = true;
};

/// An axis of a lattice.
struct LatticeAxis {
  bool decreases = false;  ///< Whether coordinates decrease from column to column.
  // Of the cells; 0 if the lattice is flat along the axis.
  double smallest = 0, largest = 0;  ///< Widths.
  double lastWidth = 0;              ///< Of the last cell.
  double next = 0;  ///< Of a uniform grid: the coordinate one cell beyond the last column.
};

/// The leaves of all ranks as parts of one uniform or rectilinear grid. The same on all ranks,
/// except for `first`.
struct WholeLattice {
  bool isUniform = true;
  std::array<int, 6> extent{};
  std::array<LatticeAxis, 3> axes;
  std::vector<std::array<int, 6>> pieces;  ///< The extents of the leaves, in the order of ranks.
  std::vector<int> ranks;                  ///< Of the leaves.
  std::size_t first = 0;                   ///< The first leaf of this rank.
};

/// Collective. Finds what the leaves of all ranks are as a whole.
/// @param leaves  of this rank
/// @return none unless the leaves are parts of one grid along the axes, whose coordinates increase
///         or decrease along each
/// @throws Error on all ranks
[[nodiscard]] std::optional<WholeLattice> findWholeLattice(Transport& transport,
                                                           Span<const Leaf> leaves);

/// Local. The directions of a data set; none along any axis if it is not a uniform or rectilinear
/// grid along the axes.
[[nodiscard]] std::array<AxisDirection, 3> directionsOf(vtkDataSet* dataSet);

/// Local. The coordinates of the columns of a uniform or rectilinear grid along an axis.
[[nodiscard]] std::vector<double> coordinatesAlong(vtkDataSet* dataSet, std::size_t axis);

}  // namespace tributary
