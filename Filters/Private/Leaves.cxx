#include "Leaves.h"

#include <vtkCellTypes.h>
#include <vtkCompositeDataIterator.h>
#include <vtkCompositeDataSet.h>
#include <vtkGenericCell.h>
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

#include "Tributary/Error.h"

namespace tributary {
namespace {

void collect(vtkDataObject* node, const std::string& path, std::vector<Leaf>& leaves) {
  if (!node) return;
  if (auto* dataSet = vtkDataSet::SafeDownCast(node)) {
    if (dataSet->GetNumberOfPoints() > 0) leaves.push_back({dataSet, path, {}, -1});
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
        leaves.push_back({grid, place, path + "/amr", static_cast<int>(level)});
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

}  // namespace

std::vector<Leaf> leavesOf(vtkDataObject* input) {
  std::vector<Leaf> leaves;
  collect(input, "", leaves);
  return leaves;
}

void forEachDataSet(vtkDataObject* object, const std::function<void(vtkDataSet*)>& visit) {
  if (auto* dataSet = vtkDataSet::SafeDownCast(object)) visit(dataSet);
  auto* composite = vtkCompositeDataSet::SafeDownCast(object);
  if (!composite) return;
  auto iterator = vtkSmartPointer<vtkCompositeDataIterator>::Take(composite->NewIterator());
  for (iterator->InitTraversal(); !iterator->IsDoneWithTraversal(); iterator->GoToNextItem())
    if (auto* dataSet = vtkDataSet::SafeDownCast(iterator->GetCurrentDataObject())) visit(dataSet);
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
    // Its GetCellTypes warns on every call in ParaView 5.11.
    vtkUnsignedCharArray* types = grid->GetDistinctCellTypesArray();
    for (vtkIdType i = 0; i < types->GetNumberOfValues(); ++i) consider(types->GetValue(i));
  } else {
    vtkNew<vtkCellTypes> types;
    dataSet->GetCellTypes(types);
    for (vtkIdType i = 0; i < types->GetNumberOfTypes(); ++i)
      consider(types->GetCellType(static_cast<int>(i)));
  }
  return dimension;
}

bool isLattice(vtkDataSet* dataSet) {
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
  vtkUnsignedCharArray* flags = dataSet->GetPointGhostArray();
  if (flags && flags->GetNumberOfValues() != dataSet->GetNumberOfPoints())
    throw Error("a data set has " + std::to_string(flags->GetNumberOfValues()) +
                " ghost flags for " + std::to_string(dataSet->GetNumberOfPoints()) + " points");
  return flags;
}

}  // namespace tributary
