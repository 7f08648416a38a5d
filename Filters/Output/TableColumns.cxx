// SPDX-License-Identifier: BSD-3-Clause
#include "Output/TableColumns.h"

#include <vtkAbstractArray.h>
#include <vtkDataArray.h>
#include <vtkDataSetAttributes.h>
#include <vtkSmartPointer.h>
#include <vtkTable.h>

#include <algorithm>
#include <string>

#include "Common/FreshArray.h"

namespace tributary {
namespace {

using Columns = std::vector<vtkSmartPointer<vtkAbstractArray>>;

/// Adds a column for each component of vectors.
void addComponents(vtkDataArray* vectors, Columns& all) {
  for (const char axis : {'X', 'Y', 'Z'}) {
    const std::string name = std::string(vectors->GetName()) + axis;
    const auto component =
        freshArrayOf(vectors->GetDataType(), name.c_str(), 1, vectors->GetNumberOfTuples());
    component->CopyComponent(0, vectors, axis - 'X');
    all.emplace_back(component);
  }
}

}  // namespace

void addColumns(vtkTable* table, const std::vector<vtkAbstractArray*>& columns) {
  Columns all;
  for (vtkIdType c = 0; c < table->GetNumberOfColumns(); ++c) all.emplace_back(table->GetColumn(c));
  for (vtkAbstractArray* column : columns) {
    if (column->GetNumberOfComponents() == 3)
      addComponents(vtkDataArray::SafeDownCast(column), all);
    else
      all.emplace_back(column);
  }
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return std::string(a->GetName()) < b->GetName(); });
  table->GetRowData()->Initialize();
  for (const auto& column : all) table->AddColumn(column);
}

}  // namespace tributary
