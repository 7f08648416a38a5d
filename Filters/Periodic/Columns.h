// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataArray.h>
#include <vtkSmartPointer.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "Common/Leaves.h"
#include "Periodic/WholeLattice.h"

#include "Tributary/Base/Span.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// The points (or the cells) of a grid with the same index along an axis, in their order in the
/// grid.
class ColumnPlaces {
 public:
  /// @param extent  of points
  ColumnPlaces(const std::array<int, 6>& extent, std::size_t axis);

  /// The number of points in the column.
  [[nodiscard]] std::int64_t points() const { return size_[0] * size_[1]; }
  /// The number of cells between two columns.
  [[nodiscard]] std::int64_t cells() const { return cellSize_[0] * cellSize_[1]; }
  /// The number in the grid of a point of the column with an index along the axis.
  [[nodiscard]] std::int64_t pointOf(std::int64_t place, int at) const;
  /// The number in the grid of a cell beyond the column with an index along the axis.
  [[nodiscard]] std::int64_t cellOf(std::int64_t place, int at) const;
  /// Calls visit(place) for the cells between two columns of which a point is a corner.
  void forEachCellAt(std::int64_t point, const std::function<void(std::int64_t)>& visit) const;
  /// Calls visit(place here, place there) for the points, or for the cells, that this column and
  /// that of another extent of the same grid have in common.
  void forEachCommonPoint(const ColumnPlaces& other,
                          const std::function<void(std::int64_t, std::int64_t)>& visit) const;
  void forEachCommonCell(const ColumnPlaces& other,
                         const std::function<void(std::int64_t, std::int64_t)>& visit) const;

 private:
  std::array<int, 6> extent_;
  std::size_t axis_;
  std::array<std::size_t, 2> across_;  // the other axes
  std::array<std::int64_t, 2> size_{}, cellSize_{};
};

/// The values of an array in the first column of a lattice.
struct ColumnArray {
  std::string name;
  vtkSmartPointer<vtkDataArray> values;  ///< Null if the leaves differ in numbers of components.
};

/// The first column of a lattice, at the places of a leaf at its last column.
struct FirstColumn {
  std::vector<std::uint8_t> isKnown;   ///< By point: whether a leaf has it.
  std::vector<std::uint8_t> isHidden;  ///< By point: whether it has the flag HIDDENPOINT.
  std::vector<std::uint8_t> hasCell;   ///< By cell: whether that beyond the column is not hidden.
  std::vector<ColumnArray> arrays;     ///< Values are 0 where they are not known.

  /// The values of an array, or null.
  [[nodiscard]] vtkDataArray* find(const std::string& name) const;
};

/// Returns the point arrays of a data set that are wanted.
using ArraysOf = std::function<std::vector<vtkDataArray*>(vtkDataSet*)>;

/// Whether a leaf with this extent has points in the last column.
[[nodiscard]] inline bool isLast(const WholeLattice& lattice, const std::array<int, 6>& extent,
                                 std::size_t axis) {
  return extent[2 * axis + 1] == lattice.extent[2 * axis + 1];
}

/// Collective. Sends the first column of a lattice to the leaves at the last one.
/// @param leaves  of this rank, which the lattice was made of
/// @param arraysOf  the arrays to send
/// @return by leaf; empty for one that is not at the last column
/// @throws Error on all ranks
[[nodiscard]] std::vector<FirstColumn> sendFirstColumn(Transport& transport,
                                                       const WholeLattice& lattice,
                                                       Span<const Leaf> leaves, std::size_t axis,
                                                       const ArraysOf& arraysOf);

/// Local. Throws Error if the number of tuples of an array is not that of the points.
void requireTuplePerPoint(vtkDataArray* array, vtkDataSet* dataSet);

/// Local. The flags of the cells of a leaf: 1 for each that is hidden, also by a hidden point;
/// empty if there is none.
[[nodiscard]] std::vector<std::uint8_t> hiddenCellsOf(vtkDataSet* dataSet);

/// Whether a value of a VTK type can be sent and interpolated.
[[nodiscard]] bool isNumeric(int type);

}  // namespace tributary
