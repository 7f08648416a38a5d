// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataArray.h>
#include <vtkNew.h>
#include <vtkSmartPointer.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#ifdef __linux__
#include <sys/mman.h>
#endif

namespace tributary {

/// Local. Allocates uninitialized memory, with huge pages for large sizes: page faults of small
/// pages take longer than the computation of the values. The caller releases it with free(). Throws
/// std::bad_alloc.
[[nodiscard]] inline void* allocateFresh(std::size_t bytes) {
  constexpr std::size_t HugePage = std::size_t(2) << 20;
  const bool large = bytes >= 2 * HugePage;
  const std::size_t alignment = large ? HugePage : 64;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded > 0 ? rounded : alignment);
  if (!memory) throw std::bad_alloc();
#ifdef __linux__
  if (large) madvise(memory, rounded, MADV_HUGEPAGE);  // advice that the system may ignore
#endif
  return memory;
}

/// Local. Throws std::bad_alloc unless so much memory is available. Call it before an array of VTK
/// grows: Debian's VTK ends the process if that fails.
inline void requireMemory(std::size_t bytes) {
  void* volatile memory = allocateFresh(bytes);  // volatile: or the compiler omits both calls
  std::free(memory);
}

/// Local. Makes one array a copy of another. Throws std::bad_alloc.
inline void copyArray(vtkDataArray* from, vtkDataArray* to) {
  requireMemory(static_cast<std::size_t>(from->GetNumberOfValues() * to->GetDataTypeSize()));
  to->DeepCopy(from);
}

/// Local. requireMemory() for a table whose columns grow by doubling.
inline void requireRows(std::size_t rows, std::size_t columns) {
  requireMemory(3 * sizeof(double) * rows * columns);
}

/// Local. Makes a VTK array of type ArrayT, for example vtkFloatArray, with uninitialized values.
template <class ArrayT>
[[nodiscard]] vtkSmartPointer<ArrayT> freshArray(const char* name, int components,
                                                 vtkIdType tuples) {
  using Value = typename ArrayT::ValueType;
  auto array = vtkSmartPointer<ArrayT>::New();
  array->SetName(name);
  array->SetNumberOfComponents(components);
  const vtkIdType values = tuples * components;
  array->SetArray(
      static_cast<Value*>(allocateFresh(static_cast<std::size_t>(values) * sizeof(Value))), values,
      /*save*/ 0, ArrayT::VTK_DATA_ARRAY_FREE);
  return array;
}

}  // namespace tributary
