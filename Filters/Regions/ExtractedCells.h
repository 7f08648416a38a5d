// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataSet.h>
#include <vtkSmartPointer.h>

#include <vector>

namespace tributary {

/// Returns the cells with the given ids, with their points and all arrays: poly data for poly data,
/// an unstructured grid for any other data set. If the input is of one of these types and has no
/// other cells and points, its data are shared and not copied. Arrays with another number of tuples
/// than there are points or cells are left out, and of several arrays of a name all but the first.
/// @param ids  in ascending order
vtkSmartPointer<vtkDataSet> extractCells(vtkDataSet* dataSet, const std::vector<vtkIdType>& ids);

}  // namespace tributary
