// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/RegionWriting.h"

#include <vtkCellData.h>
#include <vtkDataObject.h>
#include <vtkDataObjectTree.h>
#include <vtkDataObjectTreeIterator.h>
#include <vtkDataSet.h>
#include <vtkDataSetAttributes.h>
#include <vtkDoubleArray.h>
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
#include <cstdint>
#include <limits>
#include <map>

#include "Common/FreshArray.h"
#include "Common/Leaves.h"
#include "Regions/ExtractedCells.h"
#include "Regions/HyperTrees.h"

#include "Tributary/Collective/Agree.h"

namespace tributary {
namespace {

void writeExtracted(vtkDataObject* input, const std::vector<ShownRange>& ranges,
                    vtkDataObject* output) {
  std::map<vtkDataObject*, vtkSmartPointer<vtkDataObject>> extracted;
  const std::vector<Leaf> leaves = leavesAndTreesOf(input);
  for (std::size_t n = 0; n < leaves.size(); ++n) {
    std::vector<vtkIdType> ids;
    const vtkIdType count = leaves[n].cells();
    for (vtkIdType c = 0; c < count; ++c)
      for (const ShownRange& range : ranges)
        if (range.cells[n]->GetValue(c) >= 0) {
          ids.push_back(c);
          break;
        }
    if (leaves[n].trees)
      extracted[leaves[n].trees] = maskOthers(leaves[n].trees, ids);
    else
      extracted[leaves[n].dataSet] = extractCells(leaves[n].dataSet, ids);
  }
  auto* tree = vtkDataObjectTree::SafeDownCast(input);
  auto* outputTree = vtkDataObjectTree::SafeDownCast(output);
  if (vtkDataSet::SafeDownCast(input) || vtkHyperTreeGrid::SafeDownCast(input)) {
    if (extracted.count(input) != 0) output->ShallowCopy(extracted[input]);
  } else if (tree && outputTree) {
    outputTree->CopyStructure(tree);
    auto iterator = vtkSmartPointer<vtkDataObjectTreeIterator>::Take(tree->NewTreeIterator());
    for (iterator->InitTraversal(); !iterator->IsDoneWithTraversal(); iterator->GoToNextItem()) {
      const auto leaf = extracted.find(iterator->GetCurrentDataObject());
      if (leaf != extracted.end()) outputTree->SetDataSet(iterator, leaf->second);
    }
  } else if (auto* blocks = vtkMultiBlockDataSet::SafeDownCast(output)) {
    // A hierarchy's data sets must be images there: here its levels are put one after the other,
    // with places for the data sets of other ranks.
    auto* hierarchy = vtkUniformGridAMR::SafeDownCast(input);
    unsigned int block = 0;
    for (unsigned int level = 0; hierarchy && level < hierarchy->GetNumberOfLevels(); ++level)
      for (unsigned int i = 0; i < hierarchy->GetNumberOfDataSets(level); ++i, ++block) {
        const auto leaf = extracted.find(hierarchy->GetDataSet(level, i));
        blocks->SetBlock(block, leaf != extracted.end() ? leaf->second : nullptr);
      }
  }
  output->GetFieldData()->PassData(input->GetFieldData());
}

}  // namespace

void showRegions(Transport& transport, const ComponentDomain& domain,
                 const std::vector<Leaf>& leaves, const std::string& name, bool atCells,
                 bool atPoints, ShownRange& range) {
  std::vector<std::vector<char>> isSelected;
  std::vector<vtkIdType*> cells, points;
  collectively(transport, [&] {
    for (std::size_t n = 0; n < leaves.size(); ++n) {
      auto& selected = isSelected.emplace_back();
      for (const auto& region : range.regions.numbered.ofSet[n])
        selected.push_back(range.selection.has(region.number, region.cells) ? 1 : 0);
      const auto make = [&](bool isWanted, vtkIdType count) {
        return isWanted ? freshArray<vtkIdTypeArray>(name.c_str(), 1, count) : nullptr;
      };
      range.cells.push_back(make(atCells, leaves[n].cells()));
      range.points.push_back(make(atPoints && leaves[n].dataSet, leaves[n].points()));
      cells.push_back(range.cells.back() ? range.cells.back()->GetPointer(0) : nullptr);
      points.push_back(range.points.back() ? range.points.back()->GetPointer(0) : nullptr);
    }
  });
  range.atSharedPoints = writeRegions(transport, domain, range.regions, isSelected, cells, points);
}

std::string nameOfRange(std::size_t range) {
  return range == 0 ? "RegionId" : "RegionId_" + std::to_string(range);
}

void writeData(vtkDataObject* input, const std::vector<ShownRange>& ranges, bool withArrays,
               bool extract, vtkDataObject* output) {
  // Extraction copies the arrays with the cells: it works on a copy of the input that has them.
  auto whole = vtkSmartPointer<vtkDataObject>::Take(input->NewInstance());
  whole->ShallowCopy(input);
  const std::vector<Leaf> leaves = leavesAndTreesOf(whole);
  for (std::size_t n = 0; withArrays && n < leaves.size(); ++n)
    for (const ShownRange& range : ranges) {
      leaves[n].cellData()->AddArray(range.cells[n]);
      if (leaves[n].dataSet) leaves[n].dataSet->GetPointData()->AddArray(range.points[n]);
    }
  // Data sets without points are no leaves, but should have the arrays that others have.
  forEachDataSet(whole, [&](vtkDataObject* object) {
    const bool isLeaf = std::any_of(leaves.begin(), leaves.end(),
                                    [&](const Leaf& leaf) { return leaf.object() == object; });
    for (std::size_t r = 0; withArrays && !isLeaf && r < ranges.size(); ++r)
      for (const int type : {vtkDataObject::CELL, vtkDataObject::POINT}) {
        vtkNew<vtkIdTypeArray> none;
        none->SetName(nameOfRange(r).c_str());
        if (vtkDataSetAttributes* attributes = object->GetAttributes(type))
          attributes->AddArray(none);
      }
  });
  if (extract)
    writeExtracted(whole, ranges, output);
  else
    output->ShallowCopy(whole);
}

namespace {

/// The columns of the table of regions, of a known number of rows.
class RegionColumns {
 public:
  /// @param names  of the values that regions were measured by
  RegionColumns(vtkIdType rows, bool withRange, const std::vector<std::string>& names)
      : values_(names.size()),
        id_(freshArray<vtkIdTypeArray>("RegionId", 1, rows)),
        range_(withRange ? freshArray<vtkIntArray>("Range", 1, rows) : nullptr),
        cells_(freshArray<vtkIdTypeArray>("Cells", 1, rows)),
        points_(freshArray<vtkIdTypeArray>("Points", 1, rows)),
        measure_(freshArray<vtkDoubleArray>("Measure", 1, rows)),
        centroid_(freshArray<vtkDoubleArray>("Centroid", 3, rows)),
        bounds_(freshArray<vtkDoubleArray>("Bounds", 6, rows)) {
    for (const std::string& column : names)
      for (const char* what : {" Minimum", " Maximum", " Mean", " Integral"})
        columns_.push_back(freshArray<vtkDoubleArray>((column + what).c_str(), 1, rows));
  }

  void set(vtkIdType row, std::int64_t number, std::size_t range, const RegionFacts& facts,
           const ValueFacts* values, const FactScales& scales) {
    id_->SetValue(row, number);
    if (range_) range_->SetValue(row, static_cast<int>(range));
    cells_->SetValue(row, facts.cells);
    points_->SetValue(row, facts.points);
    const double weight = weightOf(facts, scales);
    measure_->SetValue(row, measureOf(facts, scales));
    double box[6];
    for (std::size_t a = 0; a < 3; ++a) {
      box[2 * a] = facts.lo[a] + 0.0;  // -0 is 0
      box[2 * a + 1] = facts.hi[a] + 0.0;
    }
    centroid_->SetTypedTuple(row, centroidOf(facts, scales).data());
    bounds_->SetTypedTuple(row, box);
    constexpr double NaN = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t v = 0; v < values_; ++v) {
      const bool good = values[v].notFinite == 0;
      const double integral = scales.integrals[v].value(values[v].integral);
      columns_[4 * v]->SetValue(row, good ? values[v].least : NaN);
      columns_[4 * v + 1]->SetValue(row, good ? values[v].most : NaN);
      columns_[4 * v + 2]->SetValue(row, good && weight > 0 ? integral / weight : NaN);
      columns_[4 * v + 3]->SetValue(row, good ? integral : NaN);
    }
  }

  void addTo(vtkTable* table) const {
    table->AddColumn(id_);
    if (range_) table->AddColumn(range_);
    table->AddColumn(cells_);
    table->AddColumn(points_);
    table->AddColumn(measure_);
    table->AddColumn(centroid_);
    table->AddColumn(bounds_);
    for (const auto& column : columns_) table->AddColumn(column);
  }

 private:
  std::size_t values_;
  vtkSmartPointer<vtkIdTypeArray> id_;
  vtkSmartPointer<vtkIntArray> range_;  // or null
  vtkSmartPointer<vtkIdTypeArray> cells_, points_;
  vtkSmartPointer<vtkDoubleArray> measure_, centroid_, bounds_;
  std::vector<vtkSmartPointer<vtkDoubleArray>> columns_;  // four for each value
};

/// Calls `visit(range, i)` for each row i of this rank's tables that is shown.
template <class Visit>
void visitShown(const std::vector<ShownRange>& ranges, Visit&& visit) {
  for (std::size_t r = 0; r < ranges.size(); ++r) {
    const RegionTable& table = ranges[r].regions.numbered.table;
    for (std::size_t i = 0; i < table.regions.size(); ++i)
      if (ranges[r].selection.has(table.first + static_cast<std::int64_t>(i),
                                  table.regions[i].cells))
        visit(r, i);
  }
}

}  // namespace

void writeTable(const std::vector<ShownRange>& ranges, const std::vector<std::string>& names,
                vtkTable* table) {
  vtkIdType rows = 0;
  visitShown(ranges, [&](std::size_t, std::size_t) { ++rows; });
  RegionColumns columns(rows, ranges.size() > 1, names);
  vtkIdType row = 0;
  visitShown(ranges, [&](std::size_t r, std::size_t i) {
    const RangeRegions& regions = ranges[r].regions;
    const RegionTable& found = regions.numbered.table;
    columns.set(row++, found.first + static_cast<std::int64_t>(i), r, found.regions[i],
                found.values.data() + i * names.size(), regions.scales);
  });
  columns.addTo(table);
}

}  // namespace tributary
