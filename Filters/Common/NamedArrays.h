// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkIdTypeArray.h>
#include <vtkSmartPointer.h>
#include <vtkStringArray.h>
#include <vtkTable.h>

#include <cstdint>
#include <initializer_list>
#include <utility>

namespace tributary {

/// Makes an empty array of ids.
[[nodiscard]] inline vtkSmartPointer<vtkIdTypeArray> numbers(const char* name) {
  auto array = vtkSmartPointer<vtkIdTypeArray>::New();
  array->SetName(name);
  return array;
}

/// Makes an empty array of numbers.
[[nodiscard]] inline vtkSmartPointer<vtkDoubleArray> values(const char* name, int components = 1) {
  auto array = vtkSmartPointer<vtkDoubleArray>::New();
  array->SetName(name);
  array->SetNumberOfComponents(components);
  return array;
}

/// Makes an empty array of texts.
[[nodiscard]] inline vtkSmartPointer<vtkStringArray> texts(const char* name) {
  auto array = vtkSmartPointer<vtkStringArray>::New();
  array->SetName(name);
  return array;
}

/// Adds columns to a table, in order.
inline void addColumns(vtkTable* table, std::initializer_list<vtkAbstractArray*> columns) {
  for (vtkAbstractArray* column : columns) table->AddColumn(column);
}

/// Adds arrays with one value each.
inline void addCounts(vtkFieldData* data,
                      std::initializer_list<std::pair<const char*, std::int64_t>> counts) {
  for (const auto& [name, value] : counts) {
    const auto array = numbers(name);
    array->InsertNextValue(value);
    data->AddArray(array);
  }
}

}  // namespace tributary
