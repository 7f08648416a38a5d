// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkNew.h>
#include <vtkSmartPointer.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#ifdef __linux__
#include <sys/mman.h>
#endif

namespace tributary {

/// Memory for a large array that is about to be written: asks for huge pages, because the first
/// touch of small ones costs more than all that is computed here. To be released with free().
inline void* allocateFresh(std::size_t bytes) {
  constexpr std::size_t HugePage = std::size_t(2) << 20;
  const bool large = bytes >= 2 * HugePage;
  const std::size_t alignment = large ? HugePage : 64;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded > 0 ? rounded : alignment);
  if (!memory) throw std::bad_alloc();
#ifdef __linux__
  if (large) madvise(memory, rounded, MADV_HUGEPAGE);  // advice: it may be refused
#endif
  return memory;
}

/// A VTK array (vtkFloatArray ...) of uninitialized values in fresh memory.
template <class ArrayT>
vtkSmartPointer<ArrayT> freshArray(const char* name, int components, vtkIdType tuples) {
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
