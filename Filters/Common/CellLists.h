// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataArray.h>
#include <vtkDataSet.h>
#include <vtkSmartPointer.h>

#include <cstdint>
#include <vector>

#include "Tributary/Base/Span.h"

namespace tributary {

/// Cells as lists of points, the connectivity in 64 bits: views of the data set's memory, or of
/// memory of its own where VTK stores something else. Can be moved, not copied.
struct CellLists {
  Span<const std::uint8_t> types;          ///< VTK cell type per cell.
  Span<const std::int64_t> offsets;        ///< cells + 1 positions in connectivity.
  Span<const std::int64_t> connectivity;   ///< Point numbers of the data set.
  Span<const std::int64_t> faceLocations;  ///< Of polyhedra, where their faces begin; or none.
  Span<const std::int64_t> faces;          ///< Per polyhedron the number of its faces, per face its
                                           ///< number of points and the points.

  CellLists() = default;
  CellLists(CellLists&&) = default;
  CellLists& operator=(CellLists&&) = default;

  std::vector<std::uint8_t> ownTypes;
  std::vector<std::int64_t> ownOffsets;
  std::vector<std::int64_t> ownConnectivity;
};

/// The cells of any data set, in the order of their cell data.
CellLists cellListsOf(vtkDataSet* dataSet);

/// The coordinates of any data set's points as contiguous floats or doubles.
vtkSmartPointer<vtkDataArray> coordinatesOf(vtkDataSet* dataSet);

/// The array if its values are contiguous tuples of float or double, else a copy that is so.
vtkSmartPointer<vtkDataArray> contiguous(vtkDataArray* array);

/// The array if its values lie in memory one after the other, else a copy that does.
vtkSmartPointer<vtkDataArray> plain(vtkDataArray* array);

/// Ids of any integer type, none rounded to a double on its way.
std::vector<std::int64_t> exactIds(vtkDataArray* ids);

/// Ghost flags per cell, or none. Cells that are left out for another reason than a HIDDENCELL flag
/// (a hidden point, a refinement elsewhere) get that flag, in a copy.
/// @param covered  1 per cell that a finer level covers, or empty
/// @param copy     memory for the copy; outlives the view
Span<const std::uint8_t> cellFlagsOf(vtkDataSet* dataSet, Span<const std::uint8_t> covered,
                                     std::vector<std::uint8_t>& copy);

}  // namespace tributary
