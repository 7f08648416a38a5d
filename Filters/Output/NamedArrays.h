// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkIdTypeArray.h>
#include <vtkSmartPointer.h>
#include <vtkStringArray.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <utility>

#include "Common/FreshArray.h"

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

/// Makes an array of type ArrayT with one value for each row: valueOf(row).
template <class ArrayT, class Rows, class ValueOf>
[[nodiscard]] vtkSmartPointer<ArrayT> column(const char* name, const Rows& rows,
                                             ValueOf&& valueOf) {
  auto array = freshArray<ArrayT>(name, 1, static_cast<vtkIdType>(rows.size()));
  auto* to = array->GetPointer(0);
  for (const auto& row : rows) *to++ = valueOf(row);
  return array;
}

/// Makes an array of ids, one for each row: numberOf(row).
template <class Rows, class NumberOf>
[[nodiscard]] vtkSmartPointer<vtkIdTypeArray> numbers(const char* name, const Rows& rows,
                                                      NumberOf&& numberOf) {
  return column<vtkIdTypeArray>(name, rows, numberOf);
}

/// Makes an array of numbers, one for each row: valueOf(row).
template <class Rows, class ValueOf>
[[nodiscard]] vtkSmartPointer<vtkDoubleArray> values(const char* name, const Rows& rows,
                                                     ValueOf&& valueOf) {
  return column<vtkDoubleArray>(name, rows, valueOf);
}

/// Makes an array of vectors of three components, one for each row: vectorOf(row).
template <class Rows, class VectorOf>
[[nodiscard]] vtkSmartPointer<vtkDoubleArray> vectors(const char* name, const Rows& rows,
                                                      VectorOf&& vectorOf) {
  auto array = freshArray<vtkDoubleArray>(name, 3, static_cast<vtkIdType>(rows.size()));
  double* to = array->GetPointer(0);
  for (const auto& row : rows) {
    const std::array<double, 3>& vector = vectorOf(row);
    to = std::copy(vector.begin(), vector.end(), to);
  }
  return array;
}

/// Makes an array of texts, one for each row: textOf(row).
template <class Rows, class TextOf>
[[nodiscard]] vtkSmartPointer<vtkStringArray> texts(const char* name, const Rows& rows,
                                                    TextOf&& textOf) {
  auto array = texts(name);
  array->SetNumberOfValues(static_cast<vtkIdType>(rows.size()));
  vtkIdType at = 0;
  for (const auto& row : rows) array->SetValue(at++, textOf(row));
  return array;
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
