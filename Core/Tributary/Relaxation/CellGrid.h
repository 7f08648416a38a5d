// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "Tributary/Base/Index.h"
#include "Tributary/Base/Span.h"

namespace tributary {

/// A box of cells of a grid: lo <= (i, j, k) < hi.
struct CellRange {
  std::array<std::int64_t, 3> lo{}, hi{};

  /// Number of cells along an axis.
  std::int64_t along(std::size_t axis) const {
    return hi[axis] > lo[axis] ? hi[axis] - lo[axis] : 0;
  }
  /// Number of cells.
  std::int64_t cells() const { return along(0) * along(1) * along(2); }
  /// Whether there are no cells.
  bool empty() const { return cells() == 0; }
};

/// The intersection of two boxes. If it is empty, lo may be greater than hi.
[[nodiscard]] CellRange overlapOf(const CellRange& one, const CellRange& other);

/// Checks that the boxes of all ranks are in a grid and divide it. Local: each rank compares its
/// own box with those of all, so the ranks together compare all pairs. Throws Error otherwise.
/// @param size  number of cells of the grid along each axis
/// @param cells, grid  the nouns of the message, for example "sites" and "lattice"
void checkPartition(const std::vector<CellRange>& boxes, const std::array<std::int64_t, 3>& size,
                    int rank, const char* cells, const char* grid);

/// A whole rectilinear grid, the same on all ranks.
struct CellGrid {
  /// Coordinates of the cells' ends along each axis, strictly increasing: one more than cells. An
  /// axis along which nothing varies has one cell.
  std::array<std::vector<double>, 3> ends;

  /// Number of cells along an axis.
  std::int64_t along(std::size_t axis) const {
    return static_cast<std::int64_t>(ends[axis].size()) - 1;
  }
  /// Width of a cell along an axis.
  double width(std::size_t axis, std::int64_t cell) const {
    const auto i = index(cell);
    return ends[axis][i + 1] - ends[axis][i];
  }
  /// Coordinate of a cell's center along an axis.
  double center(std::size_t axis, std::int64_t cell) const {
    const auto i = index(cell);
    return 0.5 * (ends[axis][i] + ends[axis][i + 1]);
  }
};

/// The number of sides of a box. Side 2 a is the lower one along axis a, side 2 a + 1 the upper
/// one.
constexpr int Sides = 6;

/// Values of the cells beyond each side of a box, in the order of the two axes along the side, x
/// fastest, then y, then z.
using SideValues = std::array<std::vector<double>, Sides>;

/// The values of all sides of a box, 0.
[[nodiscard]] SideValues makeSides(const CellRange& box);

/// Cells of one box that lie beyond a side of another box.
struct SidePatch {
  int side;         ///< of the box that needs the values
  CellRange cells;  ///< of the box that has the values
};

/// The patches of box `has` that box `needs` reads, in an order that depends only on the arguments.
/// Local.
/// @param periodic  by axis, whether the last cells of the grid are neighbors of the first ones
[[nodiscard]] std::vector<SidePatch> patchesBetween(const CellGrid& grid,
                                                    const std::array<bool, 3>& periodic,
                                                    const CellRange& needs, const CellRange& has);

/// The number of cells of the patches.
[[nodiscard]] std::size_t valuesOf(const std::vector<SidePatch>& patches);

/// Copies the values of the patches' cells, one patch after the other, x fastest.
/// @param values  of the cells of `has`, x fastest
/// @param out  valuesOf(patches) values
void packPatches(const std::vector<SidePatch>& patches, const CellRange& has,
                 Span<const double> values, Span<double> out);

/// Copies the output of packPatches() to its places beyond the sides of `needs`.
void unpackPatches(const std::vector<SidePatch>& patches, const CellRange& needs,
                   Span<const double> in, SideValues& sides);

}  // namespace tributary
