// SPDX-License-Identifier: BSD-3-Clause
#include "Common/FreshArray.h"

#include <cstdlib>
#include <mutex>
#include <unordered_map>

#include "Tributary/Base/HugePages.h"
#include "Tributary/Base/LargeBuffers.h"

namespace tributary {
namespace {

/// The sizes of the large buffers that arrays have: VTK frees memory by its address alone.
struct ArrayBuffers {
  std::mutex mutex;
  std::unordered_map<void*, std::size_t> bytes;
};

/// Never destroyed: arrays may outlive all static objects.
ArrayBuffers& arrayBuffers() {
  static auto* const theBuffers = new ArrayBuffers;
  return *theBuffers;
}

/// A large buffer that giveBack() frees.
void* takeBuffer(std::size_t bytes) {
  ArrayBuffers& buffers = arrayBuffers();
  void* const memory = largeBuffer(bytes);
  try {
    const std::lock_guard<std::mutex> lock(buffers.mutex);
    buffers.bytes[memory] = bytes;
  } catch (...) {
    giveBackLargeBuffer(memory, bytes);
    throw;
  }
  return memory;
}

void giveBack(void* memory) {
  ArrayBuffers& buffers = arrayBuffers();
  std::size_t bytes = 0;
  {
    const std::lock_guard<std::mutex> lock(buffers.mutex);
    const auto found = buffers.bytes.find(memory);
    if (found == buffers.bytes.end()) {
      // VTK keeps the free function of an array that it gives memory of malloc(), or none.
      std::free(memory);
      return;
    }
    bytes = found->second;
    buffers.bytes.erase(found);
  }
  giveBackLargeBuffer(memory, bytes);
}

}  // namespace

void setFreshTuples(vtkDataArray* array, vtkIdType tuples) {
  const vtkIdType values = tuples * array->GetNumberOfComponents();
  const std::size_t bytes =
      static_cast<std::size_t>(values) * static_cast<std::size_t>(array->GetDataTypeSize());
  if (bytes < LargeBufferBytes) {
    array->SetVoidArray(allocatePages(bytes), values, 0, vtkAbstractArray::VTK_DATA_ARRAY_FREE);
    return;
  }
  array->SetVoidArray(takeBuffer(bytes), values, 0, vtkAbstractArray::VTK_DATA_ARRAY_USER_DEFINED);
  array->SetArrayFreeFunction(giveBack);
}

vtkSmartPointer<vtkDataArray> freshArrayOf(int type, const char* name, int components,
                                           vtkIdType tuples) {
  auto array = vtkSmartPointer<vtkDataArray>::Take(vtkDataArray::CreateDataArray(type));
  array->SetName(name);
  array->SetNumberOfComponents(components);
  setFreshTuples(array, tuples);
  return array;
}

void requireMemory(std::size_t bytes) {
  std::free(newBuffer(bytes));
}

void copyArray(vtkDataArray* from, vtkDataArray* to) {
  requireMemory(static_cast<std::size_t>(from->GetNumberOfValues() * to->GetDataTypeSize()));
  to->DeepCopy(from);
}

void copyTuple(vtkDataArray* from, vtkIdType tuple, vtkDataArray* to, vtkIdType place) {
  if (from->GetDataType() == to->GetDataType()) {
    to->SetTuple(place, tuple, from);
    return;
  }
  for (int c = 0; c < to->GetNumberOfComponents(); ++c)
    to->SetComponent(place, c, from->GetComponent(tuple, c));
}

}  // namespace tributary
