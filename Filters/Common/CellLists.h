// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataArray.h>
#include <vtkDataSet.h>
#include <vtkSmartPointer.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "Common/CellSize.h"

#include "Tributary/Base/Span.h"

namespace tributary {

/// The cells of a data set as lists of points, with 64-bit connectivity. The members are views of
/// the memory of the data set, which must outlive them, or of own memory if VTK stores cells in
/// another form. Can be moved, not copied.
struct CellLists {
  Span<const std::uint8_t> types;         ///< VTK cell type per cell.
  Span<const std::int64_t> offsets;       ///< cells + 1 positions in connectivity.
  Span<const std::int64_t> connectivity;  ///< Point numbers of the data set.

  CellLists() = default;
  CellLists(CellLists&&) = default;
  CellLists& operator=(CellLists&&) = default;

  // Own memory.
  std::vector<std::uint8_t> ownTypes;
  std::vector<std::int64_t> ownOffsets;
  std::vector<std::int64_t> ownConnectivity;
};

/// Local. The cells of any data set, in the order of their cell data.
[[nodiscard]] CellLists cellListsOf(vtkDataSet* dataSet);

/// Local. Makes lists view the memory of a data set with equal cells, unless they are all in own
/// memory.
void refer(CellLists& lists, vtkDataSet* dataSet);

/// Local. The coordinates of the points of any data set as contiguous floats or doubles.
[[nodiscard]] vtkSmartPointer<vtkDataArray> coordinatesOf(vtkDataSet* dataSet);

/// The coordinates of the points of a data set: a view of its own array, or of a copy if VTK stores
/// them in another form. The data set must exist while coordinates are read.
class PointCoordinates {
 public:
  PointCoordinates() = default;
  explicit PointCoordinates(vtkDataSet* dataSet);
  /// Views the memory of a data set with equal coordinates, unless it has a copy.
  void refer(vtkDataSet* dataSet) {
    if (!copy_) *this = PointCoordinates(dataSet);
  }

  const Coordinates& view() const { return view_; }
  std::array<double, 3> operator[](std::int64_t point) const { return view_[point]; }
  /// Of the copy, in bytes.
  std::size_t memory() const;

 private:
  vtkSmartPointer<vtkDataArray> copy_;
  Coordinates view_;
};

/// Local. The array if it consists of contiguous tuples of float or double, otherwise such a copy.
[[nodiscard]] vtkSmartPointer<vtkDataArray> contiguous(vtkDataArray* array);

/// Local. The array if its values are contiguous in memory, otherwise such a copy.
[[nodiscard]] vtkSmartPointer<vtkDataArray> plain(vtkDataArray* array);

/// Local. Ids of any integer type, without conversion to double. Throws Error for other types.
[[nodiscard]] std::vector<std::int64_t> exactIds(vtkDataArray* ids);

/// Local. The ghost flags of cells, or an empty span. Cells that are hidden by a hidden point or
/// covered by a finer level have the flag HIDDENCELL, in a copy. Throws Error if the number of
/// flags of cells or points is not that of the cells or points.
/// @param covered  1 for each cell that a finer level covers, 0 for others; or empty
/// @param copy     memory for the copy; must outlive the result
[[nodiscard]] Span<const std::uint8_t> cellFlagsOf(vtkDataSet* dataSet,
                                                   Span<const std::uint8_t> covered,
                                                   std::vector<std::uint8_t>& copy);

}  // namespace tributary
