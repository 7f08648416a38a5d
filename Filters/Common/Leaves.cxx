// SPDX-License-Identifier: BSD-3-Clause
#include "Common/Leaves.h"

#include <vtkCellData.h>
#include <vtkCellTypes.h>
#include <vtkCompositeDataIterator.h>
#include <vtkCompositeDataSet.h>
#include <vtkDataArray.h>
#include <vtkGenericCell.h>
#include <vtkHyperTreeGrid.h>
#include <vtkImageData.h>
#include <vtkMatrix3x3.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkNew.h>
#include <vtkPartitionedDataSet.h>
#include <vtkPartitionedDataSetCollection.h>
#include <vtkPolyData.h>
#include <vtkRectilinearGrid.h>
#include <vtkSmartPointer.h>
#include <vtkStructuredGrid.h>
#include <vtkUniformGrid.h>
#include <vtkUniformGridAMR.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnstructuredGrid.h>

#include <algorithm>
#include <array>

#include "Common/VTKVersions.h"

#include "Tributary/Base/Error.h"

namespace tributary {
namespace {

void collect(vtkDataObject* node, const std::string& path, std::vector<Leaf>& leaves) {
  if (!node) return;
  if (auto* dataSet = vtkDataSet::SafeDownCast(node)) {
    if (dataSet->GetNumberOfPoints() > 0) leaves.push_back({dataSet, path, {}, -1, nullptr});
  } else if (auto* trees = vtkHyperTreeGrid::SafeDownCast(node)) {
    if (cellsOf(trees) > 0) leaves.push_back({nullptr, path, {}, -1, trees});
  } else if (auto* blocks = vtkMultiBlockDataSet::SafeDownCast(node)) {
    for (unsigned i = 0; i < blocks->GetNumberOfBlocks(); ++i)
      collect(blocks->GetBlock(i), path + "/" + std::to_string(i), leaves);
  } else if (auto* collection = vtkPartitionedDataSetCollection::SafeDownCast(node)) {
    for (unsigned i = 0; i < collection->GetNumberOfPartitionedDataSets(); ++i)
      collect(collection->GetPartitionedDataSet(i), path + "/" + std::to_string(i), leaves);
  } else if (auto* pieces = vtkPartitionedDataSet::SafeDownCast(node)) {
    for (unsigned i = 0; i < pieces->GetNumberOfPartitions(); ++i)
      collect(pieces->GetPartitionAsDataObject(i), path.empty() ? "/" : path, leaves);
  } else if (auto* hierarchy = vtkUniformGridAMR::SafeDownCast(node)) {
    for (unsigned level = 0; level < hierarchy->GetNumberOfLevels(); ++level)
      for (unsigned i = 0; i < hierarchy->GetNumberOfDataSets(level); ++i) {
        vtkUniformGrid* grid = hierarchy->GetDataSet(level, i);
        if (!grid || grid->GetNumberOfPoints() < 1) continue;
        const std::string place = path + "/" + std::to_string(level) + "." + std::to_string(i);
        leaves.push_back({grid, place, path + "/amr", static_cast<int>(level), nullptr});
      }
  } else if (auto* composite = vtkCompositeDataSet::SafeDownCast(node)) {
    auto iterator = vtkSmartPointer<vtkCompositeDataIterator>::Take(composite->NewIterator());
    for (iterator->InitTraversal(); !iterator->IsDoneWithTraversal(); iterator->GoToNextItem())
      collect(iterator->GetCurrentDataObject(),
              path + "/" + std::to_string(iterator->GetCurrentFlatIndex()), leaves);
  }
}

int dimensionOfExtent(const int extent[6]) {
  int dimension = 0;
  for (int a = 0; a < 3; ++a)
    if (extent[2 * a + 1] > extent[2 * a]) ++dimension;
  return dimension;
}

/// @param flags  of a data set, or null
/// @param of  "point" or "cell"
vtkUnsignedCharArray* checkedGhosts(vtkUnsignedCharArray* flags, vtkIdType count, const char* of) {
  if (flags && flags->GetNumberOfValues() != count)
    throw Error("a data set has " + std::to_string(flags->GetNumberOfValues()) +
                " ghost flags for " + std::to_string(count) + " " + of +
                "s; remove vtkGhostType from its " + of + " data, or compute it again");
  return flags;
}

}  // namespace

vtkDataObject* Leaf::object() const {
  return trees ? static_cast<vtkDataObject*>(trees) : dataSet;
}

vtkCellData* Leaf::cellData() const {
  return trees ? trees->GetCellData() : dataSet->GetCellData();
}

vtkIdType Leaf::cells() const {
  // The ids of cells of trees may have gaps.
  return trees ? std::max(cellsOf(trees), trees->GetGlobalNodeIndexMax() + 1)
               : dataSet->GetNumberOfCells();
}

vtkIdType Leaf::points() const {
  return trees ? 0 : dataSet->GetNumberOfPoints();
}

bool hasValuePerCell(vtkDataArray* array, const Leaf& leaf) {
  const vtkIdType count = array->GetNumberOfTuples();
  return leaf.trees ? count >= leaf.cells() : count == leaf.cells();
}

std::vector<Leaf> leavesOf(vtkDataObject* input) {
  std::vector<Leaf> leaves = leavesAndTreesOf(input);
  const auto isTrees = [](const Leaf& leaf) { return leaf.trees != nullptr; };
  leaves.erase(std::remove_if(leaves.begin(), leaves.end(), isTrees), leaves.end());
  return leaves;
}

std::vector<Leaf> leavesAndTreesOf(vtkDataObject* input) {
  std::vector<Leaf> leaves;
  collect(input, "", leaves);
  return leaves;
}

void forEachDataSet(vtkDataObject* object, const std::function<void(vtkDataObject*)>& visit) {
  const auto isOne = [](vtkDataObject* some) {
    return vtkDataSet::SafeDownCast(some) || vtkHyperTreeGrid::SafeDownCast(some);
  };
  if (isOne(object)) visit(object);
  auto* composite = vtkCompositeDataSet::SafeDownCast(object);
  if (!composite) return;
  auto iterator = vtkSmartPointer<vtkCompositeDataIterator>::Take(composite->NewIterator());
  for (iterator->InitTraversal(); !iterator->IsDoneWithTraversal(); iterator->GoToNextItem())
    if (isOne(iterator->GetCurrentDataObject())) visit(iterator->GetCurrentDataObject());
}

bool extentOf(vtkDataSet* dataSet, int extent[6]) {
  if (auto* image = vtkImageData::SafeDownCast(dataSet))
    image->GetExtent(extent);
  else if (auto* rectilinear = vtkRectilinearGrid::SafeDownCast(dataSet))
    rectilinear->GetExtent(extent);
  else if (auto* curvilinear = vtkStructuredGrid::SafeDownCast(dataSet))
    curvilinear->GetExtent(extent);
  else
    return false;
  return true;
}

std::array<std::int64_t, 3> pointsAlong(const int extent[6]) {
  std::array<std::int64_t, 3> points;
  for (std::size_t a = 0; a < 3; ++a)
    points[a] = std::int64_t{1} + extent[2 * a + 1] - extent[2 * a];
  return points;
}

int dimensionOf(vtkDataSet* dataSet) {
  if (dataSet->GetNumberOfCells() < 1) return -1;
  int extent[6];
  if (extentOf(dataSet, extent)) return dimensionOfExtent(extent);
  if (auto* poly = vtkPolyData::SafeDownCast(dataSet)) {
    if (poly->GetNumberOfPolys() + poly->GetNumberOfStrips() > 0) return 2;
    return poly->GetNumberOfLines() > 0 ? 1 : 0;
  }
  vtkNew<vtkGenericCell> cell;
  int dimension = -1;
  const auto consider = [&](int type) {
    cell->SetCellType(type);
    dimension = std::max(dimension, cell->GetCellDimension());
  };
  if (auto* grid = vtkUnstructuredGrid::SafeDownCast(dataSet)) {
    // GetDistinctCellTypesArray() takes longer than all else that is done with the cells.
    vtkUnsignedCharArray* types = grid->GetCellTypesArray();
    std::array<bool, 256> occurs{};
    for (vtkIdType c = 0; c < types->GetNumberOfValues(); ++c) occurs[types->GetValue(c)] = true;
    for (int type = 0; type < 256; ++type)
      if (occurs[static_cast<std::size_t>(type)]) consider(type);
  } else {
    vtkNew<vtkCellTypes> types;
    dataSet->GetCellTypes(types);
    for (vtkIdType i = 0; i < types->GetNumberOfTypes(); ++i)
      consider(types->GetCellType(static_cast<int>(i)));
  }
  return dimension;
}

bool isAlongAxes(vtkDataSet* dataSet) {
  if (auto* image = vtkImageData::SafeDownCast(dataSet)) {
    const double* spacing = image->GetSpacing();
    return image->GetDirectionMatrix()->IsIdentity() && spacing[0] > 0 && spacing[1] > 0 &&
           spacing[2] > 0;
  }
  auto* grid = vtkRectilinearGrid::SafeDownCast(dataSet);
  if (!grid) return false;
  for (vtkDataArray* axis :
       {grid->GetXCoordinates(), grid->GetYCoordinates(), grid->GetZCoordinates()})
    for (vtkIdType i = 1; i < axis->GetNumberOfTuples(); ++i)
      if (!(axis->GetComponent(i, 0) > axis->GetComponent(i - 1, 0))) return false;
  return true;
}

vtkUnsignedCharArray* pointGhosts(vtkDataSet* dataSet) {
  return checkedGhosts(dataSet->GetPointGhostArray(), dataSet->GetNumberOfPoints(), "point");
}

vtkUnsignedCharArray* cellGhosts(vtkDataSet* dataSet) {
  return checkedGhosts(dataSet->GetCellGhostArray(), dataSet->GetNumberOfCells(), "cell");
}

}  // namespace tributary
