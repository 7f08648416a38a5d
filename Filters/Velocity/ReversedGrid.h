// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataArray.h>
#include <vtkDataSet.h>
#include <vtkSmartPointer.h>

#include <array>

namespace tributary {

/// Local. A copy of a uniform or rectilinear grid in which columns along some axes have the
/// opposite order: what had the index i has -i. So coordinates that decrease increase in the copy.
/// @param axes  those along which the order changes
/// @throws Error if -i is not an integer of VTK
[[nodiscard]] vtkSmartPointer<vtkDataSet> reversedAlong(vtkDataSet* grid,
                                                        const std::array<bool, 3>& axes);

/// Local. An array of the cells of a grid in the order of those of reversedAlong().
[[nodiscard]] vtkSmartPointer<vtkDataArray> reversedCells(vtkDataArray* array, vtkDataSet* grid,
                                                          const std::array<bool, 3>& axes);

}  // namespace tributary
