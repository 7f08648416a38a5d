// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataArray.h>
#include <vtkSmartPointer.h>

#include <cstddef>

namespace tributary {

// All functions are local and throw std::bad_alloc.

/// Gives an array uninitialized values: memory of largeBuffer() if there are many. VTK returns it
/// for reuse when the array is deleted or grows.
/// @param array  one with the memory layout of vtkAOSDataArrayTemplate, as those that
///               vtkDataArray::CreateDataArray() makes
void setFreshTuples(vtkDataArray* array, vtkIdType tuples);

/// Makes a VTK array of type ArrayT, for example vtkFloatArray, with uninitialized values.
template <class ArrayT>
[[nodiscard]] vtkSmartPointer<ArrayT> freshArray(const char* name, int components,
                                                 vtkIdType tuples) {
  auto array = vtkSmartPointer<ArrayT>::New();
  array->SetName(name);
  array->SetNumberOfComponents(components);
  setFreshTuples(array, tuples);
  return array;
}

/// Makes an array of a VTK type with uninitialized values.
[[nodiscard]] vtkSmartPointer<vtkDataArray> freshArrayOf(int type, const char* name, int components,
                                                         vtkIdType tuples);

/// Throws unless so much memory is available. Call it before an array of VTK grows: Debian's VTK
/// ends the process if that fails.
void requireMemory(std::size_t bytes);

/// requireMemory() for a table whose columns grow by doubling.
inline void requireRows(std::size_t rows, std::size_t columns) {
  requireMemory(3 * sizeof(double) * rows * columns);
}

/// Makes one array a copy of another.
void copyArray(vtkDataArray* from, vtkDataArray* to);

/// Copies a tuple to an array with as many components. Integers of 64 bits stay what they are if
/// the arrays have the same type.
void copyTuple(vtkDataArray* from, vtkIdType tuple, vtkDataArray* to, vtkIdType place);

}  // namespace tributary
