// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/ExtractedCells.h"

#include <vtkAbstractArray.h>
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDataObject.h>
#include <vtkDataSetAttributes.h>
#include <vtkExtractCells.h>
#include <vtkFieldData.h>
#include <vtkIdList.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkRemoveUnusedPoints.h>
#include <vtkUnstructuredGrid.h>

#include <algorithm>
#include <numeric>

#include "Common/CellLists.h"
#include "Common/VTKVersions.h"

namespace tributary {
namespace {

/// Copies the tuples with these ids, in their order.
void copyTuples(vtkDataSetAttributes* from, vtkIdList* ids, vtkDataSetAttributes* to) {
  vtkNew<vtkIdList> places;
  places->SetNumberOfIds(ids->GetNumberOfIds());
  std::iota(places->begin(), places->end(), vtkIdType(0));
  to->CopyAllOn();
  to->CopyAllocate(from, ids->GetNumberOfIds());
  to->CopyData(from, ids, places);
}

/// Cell data of poly data is in the order of the four cell arrays, and so are the ids.
void extractPoly(vtkPolyData* from, const std::vector<vtkIdType>& ids, vtkPolyData* to) {
  std::vector<vtkIdType> newPoint(static_cast<std::size_t>(from->GetNumberOfPoints()), -1);
  vtkNew<vtkIdList> kept, corners, mapped;
  auto id = ids.begin();
  vtkIdType first = 0;
  const auto copy = [&](vtkCellArray* cells) {
    vtkNew<vtkCellArray> some;
    const vtkIdType count = cells ? cells->GetNumberOfCells() : 0;
    for (; id != ids.end() && *id < first + count; ++id) {
      cells->GetCellAtId(*id - first, corners);
      mapped->Reset();
      for (const vtkIdType point : *corners) {
        vtkIdType& place = newPoint[static_cast<std::size_t>(point)];
        if (place < 0) place = kept->InsertNextId(point);
        mapped->InsertNextId(place);
      }
      some->InsertNextCell(mapped);
    }
    first += count;
    return vtkSmartPointer<vtkCellArray>(some);
  };
  to->SetVerts(copy(from->GetVerts()));
  to->SetLines(copy(from->GetLines()));
  to->SetPolys(copy(from->GetPolys()));
  to->SetStrips(copy(from->GetStrips()));

  vtkNew<vtkPoints> points;
  points->SetDataType(from->GetPoints() ? from->GetPoints()->GetDataType() : VTK_FLOAT);
  if (from->GetPoints()) from->GetPoints()->GetPoints(kept, points);
  to->SetPoints(points);
  copyTuples(from->GetPointData(), kept, to->GetPointData());
  vtkNew<vtkIdList> cellIds;
  cellIds->SetNumberOfIds(static_cast<vtkIdType>(ids.size()));
  std::copy(ids.begin(), ids.end(), cellIds->begin());
  copyTuples(from->GetCellData(), cellIds, to->GetCellData());
  to->GetFieldData()->ShallowCopy(from->GetFieldData());
}

/// The data set without arrays that VTK cannot copy tuple by tuple: those with another number of
/// tuples than there are points or cells, and those whose name an earlier one has.
vtkSmartPointer<vtkDataSet> withWholeArrays(vtkDataSet* dataSet) {
  auto whole = vtkSmartPointer<vtkDataSet>::Take(dataSet->NewInstance());
  whole->ShallowCopy(dataSet);
  for (const int association : {vtkDataObject::POINT, vtkDataObject::CELL}) {
    vtkDataSetAttributes* arrays = whole->GetAttributes(association);
    const vtkIdType count = dataSet->GetNumberOfElements(association);
    for (int i = arrays->GetNumberOfArrays() - 1; i >= 0; --i) {
      vtkAbstractArray* array = arrays->GetAbstractArray(i);
      int first = i;
      if (array->GetName()) arrays->GetAbstractArray(array->GetName(), first);
      if (array->GetNumberOfTuples() != count || first != i) arrays->RemoveArray(i);
    }
  }
  return whole;
}

/// Whether no point is left over when all cells are taken.
bool usesAllPoints(vtkDataSet* dataSet) {
  if (!vtkUnstructuredGrid::SafeDownCast(dataSet) && !vtkPolyData::SafeDownCast(dataSet))
    return false;
  std::vector<char> isUsed(static_cast<std::size_t>(dataSet->GetNumberOfPoints()), 0);
  const CellLists lists = cellListsOf(dataSet);
  for (const std::int64_t p : lists.connectivity) isUsed[static_cast<std::size_t>(p)] = 1;
  return std::find(isUsed.begin(), isUsed.end(), 0) == isUsed.end();
}

}  // namespace

vtkSmartPointer<vtkDataSet> extractCells(vtkDataSet* input, const std::vector<vtkIdType>& ids) {
  const vtkSmartPointer<vtkDataSet> dataSet = withWholeArrays(input);
  const bool all =
      static_cast<vtkIdType>(ids.size()) == dataSet->GetNumberOfCells() && usesAllPoints(dataSet);
  if (auto* poly = vtkPolyData::SafeDownCast(dataSet)) {
    auto output = vtkSmartPointer<vtkPolyData>::New();
    if (all)
      output->ShallowCopy(poly);
    else
      extractPoly(poly, ids, output);
    return output;
  }
  auto output = vtkSmartPointer<vtkUnstructuredGrid>::New();
  if (all && vtkUnstructuredGrid::SafeDownCast(dataSet)) {
    output->ShallowCopy(dataSet);
    return output;
  }
  if (ids.empty()) {
    vtkNew<vtkPoints> none;
    output->SetPoints(none);
    output->GetPointData()->CopyAllOn();
    output->GetPointData()->CopyAllocate(dataSet->GetPointData());
    output->GetCellData()->CopyAllOn();
    output->GetCellData()->CopyAllocate(dataSet->GetCellData());
    output->GetFieldData()->ShallowCopy(dataSet->GetFieldData());
    return output;
  }
  vtkNew<vtkExtractCells> extract;
  extract->SetInputData(dataSet);
  extract->SetCellIds(ids.data(), static_cast<vtkIdType>(ids.size()));
  extract->AssumeSortedAndUniqueIdsOn();
  updateWithoutCellIds(extract);
  output->ShallowCopy(extract->GetOutput());
  if (static_cast<vtkIdType>(ids.size()) < dataSet->GetNumberOfCells()) return output;
  // When all cells are named, all points come along.
  vtkNew<vtkRemoveUnusedPoints> remove;
  remove->SetInputData(output);
  remove->SetGenerateOriginalPointIds(false);
  remove->Update();
  output->ShallowCopy(remove->GetOutput());
  return output;
}

}  // namespace tributary
