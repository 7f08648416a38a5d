// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataSet.h>
#include <vtkSmartPointer.h>

#include <vector>

namespace tributary {

/// The cells of the given ids, ascending, with their points and all arrays: poly data of poly data,
/// an unstructured grid of any other data set. What has no other cells and points already is not
/// copied.
vtkSmartPointer<vtkDataSet> extractCells(vtkDataSet* dataSet, const std::vector<vtkIdType>& ids);

}  // namespace tributary
