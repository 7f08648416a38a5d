// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "Tributary/Base/Span.h"

namespace tributary {

/// A box of cells of a grid: lo <= (i, j, k) < hi.
struct CellRange {
  std::array<std::int64_t, 3> lo{}, hi{};

  std::int64_t along(std::size_t axis) const {
    return hi[axis] > lo[axis] ? hi[axis] - lo[axis] : 0;
  }
  std::int64_t cells() const { return along(0) * along(1) * along(2); }
  bool empty() const { return cells() == 0; }
};

/// What both have; its lo may be above its hi if that is nothing.
CellRange overlapOf(const CellRange& one, const CellRange& other);

/// The whole rectilinear grid, the same on every rank.
struct CellGrid {
  /// Coordinates of the cells' ends along each axis, increasing: one more than cells. An axis along
  /// which nothing varies has one cell.
  std::array<std::vector<double>, 3> ends;

  std::int64_t along(std::size_t axis) const {
    return static_cast<std::int64_t>(ends[axis].size()) - 1;
  }
  double width(std::size_t axis, std::int64_t cell) const {
    const auto i = static_cast<std::size_t>(cell);
    return ends[axis][i + 1] - ends[axis][i];
  }
  double center(std::size_t axis, std::int64_t cell) const {
    const auto i = static_cast<std::size_t>(cell);
    return 0.5 * (ends[axis][i] + ends[axis][i + 1]);
  }
};

/// The six sides of a box of cells: 2 a is the lower one along axis a, 2 a + 1 the upper one.
constexpr int Sides = 6;

/// Values in the cells beyond each side of a box, x fastest, then y, then z (of the two axes along
/// the side).
using SideValues = std::array<std::vector<double>, Sides>;

/// Room for all sides of a box, filled with 0.
SideValues makeSides(const CellRange& box);

/// Cells of one rank's box that lie beyond a side of another's.
struct SidePatch {
  int side;         ///< of the box that needs the values
  CellRange cells;  ///< where they come from
};

/// What a box needs of another one, in an order that both ranks find by themselves.
/// @param periodic  along which axes the grid's last cells are neighbors of its first ones
std::vector<SidePatch> patchesBetween(const CellGrid& grid, const std::array<bool, 3>& periodic,
                                      const CellRange& needs, const CellRange& has);

/// Number of values of the patches.
std::size_t valuesOf(const std::vector<SidePatch>& patches);

/// Writes the values of the patches' cells, one patch after the other, x fastest.
/// @param values  of the cells of `has`, x fastest
void packPatches(const std::vector<SidePatch>& patches, const CellRange& has,
                 Span<const double> values, Span<double> out);

/// Puts what packPatches() wrote in its place beyond the sides of `needs`.
void unpackPatches(const std::vector<SidePatch>& patches, const CellRange& needs,
                   Span<const double> in, SideValues& sides);

}  // namespace tributary
