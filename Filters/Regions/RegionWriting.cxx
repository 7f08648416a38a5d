// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/RegionWriting.h"

#include <vtkCellData.h>
#include <vtkDataObject.h>
#include <vtkDataObjectTree.h>
#include <vtkDataObjectTreeIterator.h>
#include <vtkDataSet.h>
#include <vtkDataSetAttributes.h>
#include <vtkFieldData.h>
#include <vtkHyperTreeGrid.h>
#include <vtkIntArray.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkTable.h>
#include <vtkUniformGrid.h>
#include <vtkUniformGridAMR.h>

#include <algorithm>
#include <map>
#include <utility>

#include "Common/FreshArray.h"
#include "Common/Leaves.h"
#include "Common/VTKVersions.h"
#include "Output/TableColumns.h"
#include "Regions/ExtractedCells.h"
#include "Regions/Pieces/HyperTrees.h"

#include "Tributary/Collective/Agree.h"

namespace tributary {
namespace {

void writeExtracted(vtkDataObject* input, const std::vector<const ElementIds*>& extracted,
                    vtkDataObject* output) {
  std::map<vtkDataObject*, vtkSmartPointer<vtkDataObject>> parts;
  const std::vector<Leaf> leaves = leavesAndTreesOf(input);
  for (std::size_t n = 0; n < leaves.size(); ++n) {
    std::vector<vtkIdType> ids;
    const vtkIdType count = leaves[n].cells();
    for (vtkIdType c = 0; c < count; ++c)
      for (const ElementIds* array : extracted)
        if (array->cells[n]->GetValue(c) >= 0) {
          ids.push_back(c);
          break;
        }
    if (leaves[n].trees)
      parts[leaves[n].trees] = maskOthers(leaves[n].trees, ids);
    else
      parts[leaves[n].dataSet] = extractCells(leaves[n].dataSet, ids);
  }
  // Data sets without points are no leaves, but have arrays.
  forEachDataSet(input, [&](vtkDataObject* object) {
    vtkSmartPointer<vtkDataObject>& part = parts[object];
    if (part) return;
    if (auto* dataSet = vtkDataSet::SafeDownCast(object))
      part = extractCells(dataSet, {});
    else
      part = object;
  });
  auto* tree = vtkDataObjectTree::SafeDownCast(input);
  auto* outputTree = vtkDataObjectTree::SafeDownCast(output);
  if (vtkDataSet::SafeDownCast(input) || vtkHyperTreeGrid::SafeDownCast(input)) {
    output->ShallowCopy(parts.at(input));
  } else if (tree && outputTree) {
    outputTree->CopyStructure(tree);
    auto iterator = vtkSmartPointer<vtkDataObjectTreeIterator>::Take(tree->NewTreeIterator());
    for (iterator->InitTraversal(); !iterator->IsDoneWithTraversal(); iterator->GoToNextItem()) {
      const auto leaf = parts.find(iterator->GetCurrentDataObject());
      if (leaf != parts.end()) outputTree->SetDataSet(iterator, leaf->second);
    }
  } else if (auto* blocks = vtkMultiBlockDataSet::SafeDownCast(output)) {
    // A hierarchy's data sets must be images there: here its levels are put one after the other,
    // with places for the data sets of other ranks.
    auto* hierarchy = vtkUniformGridAMR::SafeDownCast(input);
    unsigned int block = 0;
    for (unsigned int level = 0; hierarchy && level < hierarchy->GetNumberOfLevels(); ++level)
      for (unsigned int i = 0; i < hierarchy->GetNumberOfDataSets(level); ++i, ++block) {
        const auto leaf = parts.find(hierarchy->GetDataSet(level, i));
        blocks->SetBlock(block, leaf != parts.end() ? leaf->second : nullptr);
      }
  }
  output->GetFieldData()->PassData(input->GetFieldData());
}

}  // namespace

void showRegions(Transport& transport, const ComponentDomain& domain,
                 const std::vector<Leaf>& leaves, const std::string& name,
                 const std::vector<std::string>& measured, bool atCells, bool atPoints,
                 ShownRange& range) {
  std::vector<std::vector<char>> isSelected;
  std::vector<vtkIdType*> cells, points;
  RegionTable& table = range.regions.numbered.table;
  collectively(transport, [&] {
    range.columns = RegionColumns(range.regions, range.selection, measured);
    // What follows does not need them.
    table.regions = RegionFactsList();
    table.values = ValueFactsList();
    range.ids.name = name;
    for (std::size_t n = 0; n < leaves.size(); ++n) {
      auto& selected = isSelected.emplace_back();
      for (const auto& region : range.regions.numbered.ofSet[n])
        selected.push_back(range.selection.has(region.number, region.cells) ? 1 : 0);
      const auto make = [&](bool isWanted, vtkIdType count) {
        return isWanted ? freshArray<vtkIdTypeArray>(name.c_str(), 1, count) : nullptr;
      };
      range.ids.cells.push_back(make(atCells, leaves[n].cells()));
      range.ids.points.push_back(make(atPoints && leaves[n].dataSet, leaves[n].points()));
      cells.push_back(range.ids.cells.back() ? range.ids.cells.back()->GetPointer(0) : nullptr);
      points.push_back(range.ids.points.back() ? range.ids.points.back()->GetPointer(0) : nullptr);
    }
  });
  WrittenRegions written =
      writeRegions(transport, domain, range.regions, isSelected, cells, points);
  range.columns.setPoints(table.first, written.points);
  range.atSharedPoints = std::move(written.atSharedPoints);
}

std::string nameOfRange(std::size_t range) {
  return range == 0 ? "RegionId" : "RegionId_" + std::to_string(range);
}

void writeData(vtkDataObject* input, const std::vector<const ElementIds*>& added,
               const std::vector<const ElementIds*>& extracted, vtkDataObject* output) {
  // Extraction copies the arrays with the cells: it works on a copy of the input that has them.
  auto whole = vtkSmartPointer<vtkDataObject>::Take(input->NewInstance());
  shallowCopy(whole, input);
  const std::vector<Leaf> leaves = leavesAndTreesOf(whole);
  for (std::size_t n = 0; n < leaves.size(); ++n)
    for (const ElementIds* array : added) {
      leaves[n].cellData()->AddArray(array->cells[n]);
      if (leaves[n].dataSet) leaves[n].dataSet->GetPointData()->AddArray(array->points[n]);
    }
  // Data sets without points are no leaves, but should have the arrays that others have.
  forEachDataSet(whole, [&](vtkDataObject* object) {
    const bool isLeaf = std::any_of(leaves.begin(), leaves.end(),
                                    [&](const Leaf& leaf) { return leaf.object() == object; });
    if (isLeaf) return;
    for (const ElementIds* array : added)
      for (const int type : {vtkDataObject::CELL, vtkDataObject::POINT})
        if (vtkDataSetAttributes* attributes = object->GetAttributes(type))
          attributes->AddArray(freshArray<vtkIdTypeArray>(array->name.c_str(), 1, 0));
  });
  if (extracted.empty())
    shallowCopy(output, whole);
  else
    writeExtracted(whole, extracted, output);
}

void writeTable(const std::vector<ShownRange>& ranges, vtkTable* table) {
  const auto& first = ranges.front().columns.arrays();
  if (ranges.size() == 1) {
    addColumns(table, {first.begin(), first.end()});
    return;
  }
  vtkIdType rows = 0;
  for (const ShownRange& range : ranges) rows += range.columns.rows();
  const auto numbers = freshArray<vtkIntArray>("Range", 1, rows);
  int* number = numbers->GetPointer(0);
  for (std::size_t r = 0; r < ranges.size(); ++r)
    number = std::fill_n(number, ranges[r].columns.rows(), static_cast<int>(r));
  std::vector<vtkSmartPointer<vtkDataArray>> joined{numbers};
  for (std::size_t c = 0; c < first.size(); ++c) {
    joined.push_back(freshArrayOf(first[c]->GetDataType(), first[c]->GetName(),
                                  first[c]->GetNumberOfComponents(), rows));
    vtkIdType at = 0;
    for (const ShownRange& range : ranges) {
      joined.back()->InsertTuples(at, range.columns.rows(), 0, range.columns.arrays()[c]);
      at += range.columns.rows();
    }
  }
  addColumns(table, {joined.begin(), joined.end()});
}

}  // namespace tributary
