// SPDX-License-Identifier: BSD-3-Clause
#include "Common/DataVersion.h"

#include <vtkBitArray.h>
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkDataSetAttributes.h>
#include <vtkExplicitStructuredGrid.h>
#include <vtkHyperTreeGrid.h>
#include <vtkIdList.h>
#include <vtkImageData.h>
#include <vtkMatrix3x3.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPointSet.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkRectilinearGrid.h>
#include <vtkStructuredGrid.h>
#include <vtkUniformHyperTreeGrid.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnstructuredGrid.h>
#include <vtkVariant.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "Common/Leaves.h"
#include "Common/SmpFor.h"
#include "Common/VTKVersions.h"

namespace tributary {
namespace {

/// Calls visit(vtkObject*) for the parts of a data set or hyper tree grid that its own modification
/// time leaves out, and for its coordinates and cells. Parts may be null.
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
  if (auto* trees = vtkHyperTreeGrid::SafeDownCast(dataSet)) {
    visit(trees->GetCellData());
    visit(trees->GetMask());
    if (vtkUniformHyperTreeGrid::SafeDownCast(trees)) return;  // makes coordinates when asked
    for (vtkDataArray* axis :
         {trees->GetXCoordinates(), trees->GetYCoordinates(), trees->GetZCoordinates()})
      visit(axis);
  } else if (auto* grid = vtkUnstructuredGrid::SafeDownCast(dataSet)) {
    visitCells(grid->GetCells());
    visit(grid->GetCellTypesArray());
    // Readers add arrays without faces to some steps of a series.
    forEachFaceArray(grid, visit);
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

/// Adds `count` values, in blocks.
template <class Value, class ValueAt>
void addValues(Fingerprint& print, vtkIdType count, const ValueAt& valueAt) {
  std::array<Value, 1024> block;
  const auto most = static_cast<vtkIdType>(block.size());
  for (vtkIdType begin = 0; begin < count; begin += most) {
    const vtkIdType size = std::min(most, count - begin);
    for (vtkIdType i = 0; i < size; ++i)
      block[static_cast<std::size_t>(i)] = static_cast<Value>(valueAt(begin + i));
    print.add(block.data(), static_cast<std::size_t>(size) * sizeof(Value));
  }
}

/// Adds the cells of a data set of a class that forEachMeshPart() does not know.
void addCells(Fingerprint& print, vtkDataSet* dataSet) {
  vtkNew<vtkIdList> points;
  for (vtkIdType cell = 0; cell < dataSet->GetNumberOfCells(); ++cell) {
    print.addValue(dataSet->GetCellType(cell));
    dataSet->GetCellPoints(cell, points);
    print.addValue(points->GetNumberOfIds());
    print.add(points->GetPointer(0),
              static_cast<std::size_t>(points->GetNumberOfIds()) * sizeof(vtkIdType));
  }
}

/// @param points  the coordinates to leave out, or null
Fingerprint fingerprintWithout(vtkDataArray* points, vtkDataSet* dataSet) {
  Fingerprint print;
  print.addValue(dataSet->GetDataObjectType());
  int extent[6] = {};
  const bool isStructured = extentOf(dataSet, extent);
  print.add(extent, sizeof extent);
  print.addValue(dataSet->GetNumberOfPoints());
  print.addValue(dataSet->GetNumberOfCells());
  if (auto* image = vtkImageData::SafeDownCast(dataSet)) {
    print.add(image->GetOrigin(), 3 * sizeof(double));
    print.add(image->GetSpacing(), 3 * sizeof(double));
    print.add(image->GetDirectionMatrix()->GetData(), 9 * sizeof(double));
  }
  forEachMeshPart(dataSet, [&](vtkObject* part) {
    auto* array = vtkDataArray::SafeDownCast(part);
    if (array && array == points) return;
    if (!vtkCellArray::SafeDownCast(part)) addArray(print, array);
  });
  if (!isStructured && !vtkUnstructuredGrid::SafeDownCast(dataSet) &&
      !vtkPolyData::SafeDownCast(dataSet) && !vtkExplicitStructuredGrid::SafeDownCast(dataSet))
    addCells(print, dataSet);
  vtkCellData* ofCells = dataSet->GetCellData();
  vtkPointData* ofPoints = dataSet->GetPointData();
  for (vtkDataArray* array :
       {ofCells->GetArray(vtkDataSetAttributes::GhostArrayName()), ofCells->GetHigherOrderDegrees(),
        ofPoints->GetArray(vtkDataSetAttributes::GhostArrayName()), ofPoints->GetRationalWeights()})
    addArray(print, array);
  return print;
}

}  // namespace

DataVersion::State DataVersion::stateOf(vtkDataObject* object) {
  State state;
  state.generated = object->GetUpdateTime();
  state.modified = object->GetMTime();
  forEachDataSet(object, [&](vtkDataObject* dataSet) {
    state.modified = std::max(state.modified, lastChangeOf(dataSet));
    state.parts.push_back(dataSet);
    for (const int type : {vtkDataObject::POINT, vtkDataObject::CELL})
      state.sizes.push_back(dataSet->GetNumberOfElements(type));
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
         now.parts == state_.parts && now.sizes == state_.sizes;
}

void addArray(Fingerprint& print, vtkDataArray* array) {
  print.addValue(array ? array->GetDataType() : -1);
  if (!array) return;
  print.addValue(array->GetNumberOfComponents());
  print.addValue(array->GetNumberOfTuples());
  const vtkIdType count = array->GetNumberOfValues();
  const int components = array->GetNumberOfComponents();
  const auto number = [&](vtkIdType i) {
    return array->GetComponent(i / components, static_cast<int>(i % components));
  };
  if (array->GetDataType() == VTK_BIT)  // packed, although its layout is reported as standard
    addValues<std::uint8_t>(print, count, number);
  else if (array->HasStandardMemoryLayout())
    print.add(array->GetVoidPointer(0),
              static_cast<std::size_t>(count) * static_cast<std::size_t>(array->GetDataTypeSize()),
              smpFor);
  else if (array->GetDataType() == VTK_FLOAT || array->GetDataType() == VTK_DOUBLE)
    addValues<double>(print, count, number);
  else  // which a double may not hold
    addValues<long long>(print, count,
                         [&](vtkIdType i) { return array->GetVariantValue(i).ToLongLong(); });
}

bool sharesMesh(vtkDataSet* one, vtkDataSet* other) {
  const auto partsOf = [](vtkDataSet* dataSet) {
    std::vector<const vtkObject*> parts;
    forEachMeshPart(dataSet, [&](vtkObject* part) {
      // Data sets that share cells have other objects with the same arrays.
      if (!vtkCellArray::SafeDownCast(part)) parts.push_back(part);
    });
    for (vtkDataArray* array :
         {dataSet->GetCellData()->GetArray(vtkDataSetAttributes::GhostArrayName()),
          dataSet->GetCellData()->GetHigherOrderDegrees(),
          dataSet->GetPointData()->GetArray(vtkDataSetAttributes::GhostArrayName()),
          dataSet->GetPointData()->GetRationalWeights()})
      parts.push_back(array);
    return parts;
  };
  const bool isKnown = vtkUnstructuredGrid::SafeDownCast(one) || vtkPolyData::SafeDownCast(one) ||
                       vtkStructuredGrid::SafeDownCast(one) ||
                       vtkRectilinearGrid::SafeDownCast(one);
  return isKnown && partsOf(one) == partsOf(other);
}

Fingerprint fingerprintOfMesh(vtkDataSet* dataSet) {
  return fingerprintWithout(nullptr, dataSet);
}

Fingerprint fingerprintOfCells(vtkDataSet* dataSet) {
  auto* pointSet = vtkPointSet::SafeDownCast(dataSet);
  const bool has = pointSet && pointSet->GetPoints();
  return fingerprintWithout(has ? pointSet->GetPoints()->GetData() : nullptr, dataSet);
}

}  // namespace tributary
