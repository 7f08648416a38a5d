// SPDX-License-Identifier: BSD-3-Clause
#include "Common/DataVersion.h"

#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkDataSetAttributes.h>
#include <vtkExplicitStructuredGrid.h>
#include <vtkIdTypeArray.h>
#include <vtkImageData.h>
#include <vtkMatrix3x3.h>
#include <vtkPointData.h>
#include <vtkPointSet.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkRectilinearGrid.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnstructuredGrid.h>

#include <algorithm>
#include <cstddef>

#include "Common/Leaves.h"

namespace tributary {
namespace {

/// Calls visit(vtkObject*) for the parts of a data set that its own modification time leaves out,
/// and for its coordinates and cells. Parts may be null.
template <class Visit>
void forEachMeshPart(vtkDataObject* dataSet, Visit&& visit) {
  const auto visitCells = [&](vtkCellArray* cells) {
    if (!cells) return;
    visit(cells);
    visit(cells->GetOffsetsArray());
    visit(cells->GetConnectivityArray());
  };
  if (auto* points = vtkPointSet::SafeDownCast(dataSet))
    visit(points->GetPoints() ? points->GetPoints()->GetData() : nullptr);
  if (auto* grid = vtkUnstructuredGrid::SafeDownCast(dataSet)) {
    visitCells(grid->GetCells());
    visit(grid->GetCellTypesArray());
    visit(grid->GetFaces());
    visit(grid->GetFaceLocations());
  } else if (auto* poly = vtkPolyData::SafeDownCast(dataSet)) {
    for (vtkCellArray* cells :
         {poly->GetVerts(), poly->GetLines(), poly->GetPolys(), poly->GetStrips()})
      visitCells(cells);
  } else if (auto* explicitGrid = vtkExplicitStructuredGrid::SafeDownCast(dataSet)) {
    visitCells(explicitGrid->GetCells());
  } else if (auto* image = vtkImageData::SafeDownCast(dataSet)) {
    visit(image->GetDirectionMatrix());
  } else if (auto* rectilinear = vtkRectilinearGrid::SafeDownCast(dataSet)) {
    visit(rectilinear->GetXCoordinates());
    visit(rectilinear->GetYCoordinates());
    visit(rectilinear->GetZCoordinates());
  }
}

/// The last modification of a data set and its arrays, also those that its own time leaves out.
vtkMTimeType lastChangeOf(vtkDataObject* dataSet) {
  vtkMTimeType last = dataSet->GetMTime();
  forEachMeshPart(dataSet, [&](vtkObject* part) {
    if (part) last = std::max(last, part->GetMTime());
  });
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

void addArray(Fingerprint& print, vtkDataArray* array) {
  print.addValue(array ? array->GetDataType() : -1);
  if (!array) return;
  print.addValue(array->GetNumberOfComponents());
  print.addValue(array->GetNumberOfTuples());
  if (array->HasStandardMemoryLayout()) {
    print.add(array->GetVoidPointer(0), static_cast<std::size_t>(array->GetNumberOfValues()) *
                                            static_cast<std::size_t>(array->GetDataTypeSize()));
    return;
  }
  for (vtkIdType tuple = 0; tuple < array->GetNumberOfTuples(); ++tuple)
    for (int component = 0; component < array->GetNumberOfComponents(); ++component)
      print.addValue(array->GetComponent(tuple, component));
}

Fingerprint fingerprintOfMesh(vtkDataSet* dataSet) {
  Fingerprint print;
  print.addValue(dataSet->GetDataObjectType());
  int extent[6] = {};
  extentOf(dataSet, extent);
  print.add(extent, sizeof extent);
  if (auto* image = vtkImageData::SafeDownCast(dataSet)) {
    print.add(image->GetOrigin(), 3 * sizeof(double));
    print.add(image->GetSpacing(), 3 * sizeof(double));
    print.add(image->GetDirectionMatrix()->GetData(), 9 * sizeof(double));
  }
  forEachMeshPart(dataSet, [&](vtkObject* part) {
    if (!vtkCellArray::SafeDownCast(part)) addArray(print, vtkDataArray::SafeDownCast(part));
  });
  vtkCellData* ofCells = dataSet->GetCellData();
  vtkPointData* ofPoints = dataSet->GetPointData();
  for (vtkDataArray* array :
       {ofCells->GetArray(vtkDataSetAttributes::GhostArrayName()), ofCells->GetHigherOrderDegrees(),
        ofPoints->GetArray(vtkDataSetAttributes::GhostArrayName()), ofPoints->GetRationalWeights()})
    addArray(print, array);
  return print;
}

}  // namespace tributary
