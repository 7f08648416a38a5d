// SPDX-License-Identifier: BSD-3-Clause
#include "Common/DataVersion.h"

#include <vtkCellArray.h>
#include <vtkDataArray.h>
#include <vtkPolyData.h>
#include <vtkRectilinearGrid.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnstructuredGrid.h>

#include <algorithm>

#include "Common/Leaves.h"

namespace tributary {
namespace {

/// The last modification of a data set and its arrays, also those that its own time leaves out.
vtkMTimeType lastChangeOf(vtkDataObject* dataSet) {
  vtkMTimeType last = dataSet->GetMTime();
  const auto consider = [&](vtkObject* part) {
    if (part) last = std::max(last, part->GetMTime());
  };
  const auto considerCells = [&](vtkCellArray* cells) {
    if (!cells) return;
    consider(cells);
    consider(cells->GetOffsetsArray());
    consider(cells->GetConnectivityArray());
  };
  if (auto* grid = vtkUnstructuredGrid::SafeDownCast(dataSet)) {
    considerCells(grid->GetCells());
    consider(grid->GetCellTypesArray());
  } else if (auto* poly = vtkPolyData::SafeDownCast(dataSet)) {
    for (vtkCellArray* cells :
         {poly->GetVerts(), poly->GetLines(), poly->GetPolys(), poly->GetStrips()})
      considerCells(cells);
  } else if (auto* rectilinear = vtkRectilinearGrid::SafeDownCast(dataSet)) {
    consider(rectilinear->GetXCoordinates());
    consider(rectilinear->GetYCoordinates());
    consider(rectilinear->GetZCoordinates());
  }
  return last;
}

/// The same of all data sets of an object.
vtkMTimeType lastChangeOfAll(vtkDataObject* object) {
  vtkMTimeType last = object->GetMTime();
  forEachDataSet(object,
                 [&](vtkDataObject* dataSet) { last = std::max(last, lastChangeOf(dataSet)); });
  return last;
}

}  // namespace

DataVersion::DataVersion(vtkDataObject* object) : object_(object) {
  if (!object) return;
  generated_ = object->GetUpdateTime();
  modified_ = lastChangeOfAll(object);
}

bool DataVersion::isCurrent(vtkDataObject* object) const {
  return object && object_.GetPointer() == object && object->GetUpdateTime() == generated_ &&
         lastChangeOfAll(object) == modified_;
}

}  // namespace tributary
