// SPDX-License-Identifier: BSD-3-Clause
#include "Common/DataVersion.h"

#include <vtkCellArray.h>
#include <vtkDataArray.h>
#include <vtkExplicitStructuredGrid.h>
#include <vtkIdTypeArray.h>
#include <vtkImageData.h>
#include <vtkMatrix3x3.h>
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
    consider(grid->GetFaces());
    consider(grid->GetFaceLocations());
  } else if (auto* poly = vtkPolyData::SafeDownCast(dataSet)) {
    for (vtkCellArray* cells :
         {poly->GetVerts(), poly->GetLines(), poly->GetPolys(), poly->GetStrips()})
      considerCells(cells);
  } else if (auto* explicitGrid = vtkExplicitStructuredGrid::SafeDownCast(dataSet)) {
    considerCells(explicitGrid->GetCells());
  } else if (auto* image = vtkImageData::SafeDownCast(dataSet)) {
    consider(image->GetDirectionMatrix());
  } else if (auto* rectilinear = vtkRectilinearGrid::SafeDownCast(dataSet)) {
    consider(rectilinear->GetXCoordinates());
    consider(rectilinear->GetYCoordinates());
    consider(rectilinear->GetZCoordinates());
  }
  return last;
}

}  // namespace

DataVersion::State DataVersion::stateOf(vtkDataObject* object) {
  State state;
  state.generated = object->GetUpdateTime();
  state.modified = object->GetMTime();
  forEachDataSet(object, [&](vtkDataObject* dataSet) {
    state.modified = std::max(state.modified, lastChangeOf(dataSet));
    state.parts.push_back(dataSet);
  });
  return state;
}

DataVersion::DataVersion(vtkDataObject* object) : object_(object) {
  if (object) state_ = stateOf(object);
}

bool DataVersion::isCurrent(vtkDataObject* object) const {
  if (!object || object_.GetPointer() != object) return false;
  const State now = stateOf(object);
  return now.generated == state_.generated && now.modified == state_.modified &&
         now.parts == state_.parts;
}

}  // namespace tributary
