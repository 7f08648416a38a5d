#include "vtkAsyncConnectivity.h"

#include "Private/ComponentDomain.h"
#include "Private/ExtractedCells.h"
#include "Private/FreshArray.h"
#include "Private/HyperTrees.h"
#include "Private/Leaves.h"
#include "Private/PropertyList.h"
#include "Private/RegionSelection.h"
#include "Private/Require.h"
#include "Private/RunStatistics.h"

#include "Tributary/Agree.h"
#include "Tributary/Error.h"
#include "Tributary/Transport/Collectives.h"

#include <vtkCellData.h>
#include <vtkDataObjectTree.h>
#include <vtkDataObjectTreeIterator.h>
#include <vtkDataSetAttributes.h>
#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkHyperTreeGrid.h>
#include <vtkIdTypeArray.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkIntArray.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkNew.h>
#include <vtkObjectFactory.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkTable.h>
#include <vtkUniformGrid.h>
#include <vtkUniformGridAMR.h>
#include <vtkUnstructuredGrid.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <utility>

vtkStandardNewMacro(vtkAsyncConnectivity);

namespace
{
using tributary::Error;
using tributary::require;

/// Share of the progress bar when all data sets are known.
constexpr double SETUP_DONE = 0.1;

std::string numbered(const char* name, std::size_t range)
{
  return range == 0 ? name : name + ("_" + std::to_string(range));
}

/// @return whether it was there
bool removeFrom(std::vector<vtkIdType>& ids, vtkIdType id)
{
  const auto end = std::remove(ids.begin(), ids.end(), id);
  const bool found = end != ids.end();
  ids.erase(end, ids.end());
  return found;
}
} // anonymous namespace

//------------------------------------------------------------------------------
/// One execution on one rank. Every member function is collective, but those that make the outputs.
class vtkAsyncConnectivity::vtkRun
{
public:
  vtkRun(vtkAsyncConnectivity* self, tributary::Transport& transport)
    : Self(self)
    , Transport(transport)
  {
  }

  /// @return false after an abort
  bool Execute(vtkDataObject* input, vtkDataObject* output, vtkTable* table,
    tributary::RunStatistics& statistics);

private:
  /// What is known of one range at the end.
  struct Range
  {
    tributary::RangeRegions Regions;
    tributary::RegionSelection Selection;
    std::vector<vtkSmartPointer<vtkIdTypeArray>> Cells, Points; // for each piece
  };

  vtkDataArray* FindInputArray(int index, const tributary::Leaf& leaf, int& association);
  std::vector<vtkDataArray*> FindLabels();
  std::vector<tributary::RangeTest> FindScalars();
  void FindMeasured();
  tributary::RegionSelection Select(const tributary::RangeRegions& regions);
  bool LabelRange(std::size_t range);
  tributary::UnionOptions MakeUnionOptions(double progress);
  void Write(vtkDataObject* input, vtkDataObject* output);
  void Extract(vtkDataObject* input, vtkDataObject* output);
  void WriteTable(vtkTable* table);

  vtkAsyncConnectivity* Self;
  tributary::Transport& Transport;
  std::vector<tributary::Leaf> Leaves;
  std::unique_ptr<tributary::ComponentDomain> Domain;
  std::vector<tributary::RangeTest> Tests;
  std::vector<std::string> Columns;                           // a component of an array each
  std::vector<std::vector<tributary::MeasuredValues>> Arrays; // for each piece
  std::vector<Range> Ranges;
};

//------------------------------------------------------------------------------
void vtkAsyncConnectivity::CheckProperties()
{
  if (this->ScalarConnectivity)
  {
    require(!this->ScalarRanges.empty(), "ScalarRange", "empty", "set it to one range or more");
    for (const auto& range : this->ScalarRanges)
    {
      require(!std::isnan(range[0]) && !std::isnan(range[1]), "ScalarRange", "not a number",
        "set it to two numbers");
      require(range[0] <= range[1], "ScalarRange", range[0], "its end, ", range[1],
        ", must not be below its beginning");
    }
  }
  require(this->Tolerance >= 0 && this->Tolerance <= 0.5, "Tolerance", this->Tolerance,
    "set it to a share of a cell's diagonal from 0 to 0.5");
  if (this->ExtractionMode == CLOSEST_POINT)
  {
    for (const double x : this->ClosestPoint)
    {
      require(std::isfinite(x), "ClosestPoint", x, "set it to finite coordinates");
    }
  }
  if (this->ExtractionMode == SIZE_RANGE)
  {
    const vtkIdType least = this->SizeRange[0], most = this->SizeRange[1];
    require(least >= 0, "SizeRange", least, "set its beginning to 0 or more cells");
    require(most >= 0, "SizeRange", most, "set its end to 0 for no limit, or to more cells");
    require(most == 0 || least <= most, "SizeRange", least, "its end, ", most,
      ", must not be below its beginning");
  }
  require(this->ExtractionMode != SPECIFIED || !this->SpecifiedRegionIds.empty(),
    "SpecifiedRegionIds", "empty", "name the regions, or choose another ExtractionMode");
  require((this->ExtractionMode != POINT_SEEDED && this->ExtractionMode != CELL_SEEDED) ||
      !this->SeedIds.empty(),
    "SeedIds", "empty", "name the seeds, or choose another ExtractionMode");
}

//------------------------------------------------------------------------------
void vtkAsyncConnectivity::DescribeProperties(tributary::PropertyList& list)
{
  list.add("ExtractionMode", this->ExtractionMode);
  list.add("ExtractRegions", this->ExtractRegions);
  list.add("ColorRegions", this->ColorRegions);
  list.add("RegionIdAssignmentMode", this->RegionIdAssignmentMode);
  list.addAll("SeedIds", this->SeedIds);
  list.addAll("SpecifiedRegionIds", this->SpecifiedRegionIds);
  list.addAll("ClosestPoint", this->ClosestPoint);
  list.addAll("SizeRange", this->SizeRange);
  list.add("ConnectThrough", this->ConnectThrough);
  list.addAll("StatisticsArrays", this->StatisticsArrays);
  list.add("Tolerance", this->Tolerance);
  list.add("Method", this->Method);
  const auto addArray = [&](const char* name, int index)
  {
    vtkInformation* info = this->GetInputArrayInformation(index);
    const char* array = info->Get(vtkDataObject::FIELD_NAME());
    list.add(name, info->Get(vtkDataObject::FIELD_ASSOCIATION()));
    list.add(name, std::string(array ? array : ""));
  };
  list.add("ScalarConnectivity", this->ScalarConnectivity);
  if (this->ScalarConnectivity)
  {
    addArray("SelectInputScalars", 0);
    list.add("FullScalarConnectivity", this->FullScalarConnectivity);
    std::vector<double> bounds;
    for (const auto& range : this->ScalarRanges)
    {
      bounds.insert(bounds.end(), range.begin(), range.end());
    }
    list.addAll("ScalarRange", bounds);
  }
  list.add("LabelConnectivity", this->LabelConnectivity);
  if (this->LabelConnectivity)
  {
    addArray("SelectLabels", 1);
  }
}

//------------------------------------------------------------------------------
/// The array of SetInputArrayToProcess(index, ...), null if the leaf has it not. Local.
vtkDataArray* vtkAsyncConnectivity::vtkRun::FindInputArray(
  int index, const tributary::Leaf& leaf, int& association)
{
  if (leaf.trees &&
    this->Self->GetInputArrayInformation(index)->Get(vtkDataObject::FIELD_ASSOCIATION()) ==
      vtkDataObject::FIELD_ASSOCIATION_POINTS)
  {
    throw Error(std::string(index == 0 ? "SelectInputScalars" : "SelectLabels") +
      " names an array of points, but hyper tree grids have arrays of cells only; choose one of "
      "these");
  }
  return this->Self->GetInputArrayToProcess(index, leaf.object(), association);
}

//------------------------------------------------------------------------------
/// The array of labels of each leaf, null if labels do not count.
std::vector<vtkDataArray*> vtkAsyncConnectivity::vtkRun::FindLabels()
{
  std::vector<vtkDataArray*> labels(this->Leaves.size(), nullptr);
  tributary::together(this->Transport,
    [&]
    {
      for (std::size_t n = 0; this->Self->LabelConnectivity && n < labels.size(); ++n)
      {
        const tributary::Leaf& leaf = this->Leaves[n];
        int association = vtkDataObject::FIELD_ASSOCIATION_NONE;
        labels[n] = this->FindInputArray(1, leaf, association);
        if (labels[n] && association != vtkDataObject::FIELD_ASSOCIATION_CELLS)
        {
          throw Error("SelectLabels is an array of points; choose an array of cells, or convert it "
                      "with Point Data to Cell Data first");
        }
        if (!labels[n] && leaf.cells() > 0)
        {
          throw Error("a data set has not the array to compare with LabelConnectivity; choose an "
                      "array of cells that all have with SelectLabels "
                      "(SetInputArrayToProcess(1, ...))");
        }
      }
    });
  return labels;
}

//------------------------------------------------------------------------------
/// The array of scalars of each leaf, with the range left open.
std::vector<tributary::RangeTest> vtkAsyncConnectivity::vtkRun::FindScalars()
{
  std::vector<tributary::RangeTest> tests(this->Leaves.size());
  tributary::together(this->Transport,
    [&]
    {
      for (std::size_t n = 0; this->Self->ScalarConnectivity && n < tests.size(); ++n)
      {
        const tributary::Leaf& leaf = this->Leaves[n];
        if (leaf.cells() < 1)
        {
          continue;
        }
        int association = vtkDataObject::FIELD_ASSOCIATION_NONE;
        vtkDataArray* scalars = this->FindInputArray(0, leaf, association);
        const bool atCells = association == vtkDataObject::FIELD_ASSOCIATION_CELLS;
        if (!scalars || (!atCells && association != vtkDataObject::FIELD_ASSOCIATION_POINTS))
        {
          throw Error("a data set has not the scalars of ScalarConnectivity; choose an array of "
                      "points or cells that all have with SelectInputScalars "
                      "(SetInputArrayToProcess(0, ...)), or turn ScalarConnectivity off");
        }
        const vtkIdType count = atCells ? leaf.cells() : leaf.points();
        const bool isComplete = atCells ? tributary::hasValuePerCell(scalars, leaf)
                                        : scalars->GetNumberOfTuples() == count;
        if (scalars->GetNumberOfComponents() != 1 || !isComplete)
        {
          throw Error(std::string("the scalars \"") +
            (scalars->GetName() ? scalars->GetName() : "") + "\" have " +
            std::to_string(scalars->GetNumberOfComponents()) + " components and " +
            std::to_string(scalars->GetNumberOfTuples()) + " tuples for " + std::to_string(count) +
            (atCells ? " cells" : " points") +
            "; choose one of one component with "
            "SelectInputScalars");
        }
        tests[n].scalars = scalars;
        tests[n].atCells = atCells;
        tests[n].allPoints = this->Self->FullScalarConnectivity;
      }
    });
  return tests;
}

//------------------------------------------------------------------------------
/// The columns that StatisticsArrays asks for, the same on all ranks, and each leaf's arrays.
void vtkAsyncConnectivity::vtkRun::FindMeasured()
{
  this->Arrays.resize(this->Leaves.size());
  for (const std::string& name : this->Self->StatisticsArrays)
  {
    std::vector<std::pair<vtkDataArray*, bool>> found(this->Leaves.size());
    std::int64_t components = 0;
    tributary::together(this->Transport,
      [&]
      {
        for (std::size_t n = 0; n < this->Leaves.size(); ++n)
        {
          const tributary::Leaf& leaf = this->Leaves[n];
          vtkDataArray* array = leaf.cellData()->GetArray(name.c_str());
          const bool atCells = array != nullptr;
          if (!atCells && leaf.dataSet)
          {
            array = leaf.dataSet->GetPointData()->GetArray(name.c_str());
          }
          if (leaf.cells() < 1)
          {
            continue;
          }
          if (!array ||
            !(atCells ? tributary::hasValuePerCell(array, leaf)
                      : array->GetNumberOfTuples() == leaf.points()))
          {
            throw Error("a data set has not the array \"" + name +
              "\" of StatisticsArrays at its cells or points; choose arrays that all have");
          }
          if (components != 0 && components != array->GetNumberOfComponents())
          {
            throw Error("the array \"" + name +
              "\" of StatisticsArrays has another number of components in other data sets");
          }
          components = array->GetNumberOfComponents();
          found[n] = { array, atCells };
        }
      });
    const std::int64_t most =
      tributary::allreduce(this->Transport, tributary::ReduceOp::Max, components);
    tributary::together(this->Transport,
      [&]
      {
        if (components != 0 && components != most)
        {
          throw Error("the array \"" + name +
            "\" of StatisticsArrays has another number of components on other ranks");
        }
      });
    tributary::together(this->Transport,
      [&]
      {
        for (int component = 0; component < most; ++component)
        {
          this->Columns.push_back(most > 1 ? name + "_" + std::to_string(component) : name);
          for (std::size_t n = 0; n < found.size(); ++n)
          {
            this->Arrays[n].push_back(found[n].first
                ? tributary::MeasuredValues(found[n].first, component, found[n].second)
                : tributary::MeasuredValues()); // there are no cells to look at
          }
        }
      });
  }
}

//------------------------------------------------------------------------------
tributary::RegionSelection vtkAsyncConnectivity::vtkRun::Select(
  const tributary::RangeRegions& regions)
{
  auto* self = this->Self;
  const std::vector<std::int64_t> seeds(self->SeedIds.begin(), self->SeedIds.end());
  switch (self->ExtractionMode)
  {
    case POINT_SEEDED:
      return tributary::selectAtPoints(this->Transport, *this->Domain, regions, seeds);
    case CELL_SEEDED:
      return tributary::selectAtCells(this->Transport, *this->Domain, regions, seeds);
    case SPECIFIED:
      return tributary::selectSpecified(regions.numbered.table,
        std::vector<std::int64_t>(
          self->SpecifiedRegionIds.begin(), self->SpecifiedRegionIds.end()));
    case LARGEST:
      return tributary::selectLargest(this->Transport, regions.numbered.table);
    case CLOSEST_POINT:
      return tributary::selectNearest(this->Transport, *this->Domain, regions,
        { self->ClosestPoint[0], self->ClosestPoint[1], self->ClosestPoint[2] });
    case SIZE_RANGE:
      return tributary::selectBySize(
        self->SizeRange[0], self->SizeRange[1] == 0 ? VTK_ID_MAX : self->SizeRange[1]);
    default:
      break;
  }
  tributary::RegionSelection all;
  all.all = true;
  return all;
}

//------------------------------------------------------------------------------
tributary::UnionOptions vtkAsyncConnectivity::vtkRun::MakeUnionOptions(double progress)
{
  tributary::UnionOptions options;
  options.method = this->Self->Method == TREE_UNION ? tributary::UnionMethod::TreeUnion
                                                    : tributary::UnionMethod::LabelPropagation;
  options.exchange = this->Self->MakeExchangeOptions();
  options.monitor = [this, progress] { return this->Self->Monitor(this->Transport, progress); };
  return options;
}

//------------------------------------------------------------------------------
/// @return false after an abort
bool vtkAsyncConnectivity::vtkRun::LabelRange(std::size_t number)
{
  auto* self = this->Self;
  const double step = (1 - SETUP_DONE) / static_cast<double>(this->Ranges.size());
  const double done = SETUP_DONE + step * static_cast<double>(number);
  Range& range = this->Ranges[number];
  for (tributary::RangeTest& test : this->Tests)
  {
    test.lo = self->ScalarRanges.empty() ? 0 : self->ScalarRanges[number][0];
    test.hi = self->ScalarRanges.empty() ? 0 : self->ScalarRanges[number][1];
  }
  constexpr tributary::RegionOrder orders[] = { tributary::RegionOrder::LeastKey,
    tributary::RegionOrder::MostCells, tributary::RegionOrder::FewestCells };
  range.Regions = tributary::findRegions(this->Transport, *this->Domain, this->Tests, this->Arrays,
    this->Columns.size(), orders[self->RegionIdAssignmentMode],
    this->MakeUnionOptions(done + 0.5 * step));
  if (self->AbortedTogether(this->Transport, range.Regions.aborted))
  {
    return false;
  }

  range.Selection = this->Select(range.Regions);
  std::vector<std::vector<char>> isSelected;
  std::vector<vtkIdType*> cells, points;
  tributary::together(this->Transport,
    [&]
    {
      for (std::size_t n = 0; n < this->Leaves.size(); ++n)
      {
        auto& selected = isSelected.emplace_back();
        for (const auto& region : range.Regions.numbered.ofSet[n])
        {
          selected.push_back(range.Selection.has(region.number, region.cells) ? 1 : 0);
        }
        const tributary::Leaf& leaf = this->Leaves[n];
        const std::string name = numbered("RegionId", number);
        range.Cells.push_back(self->ColorRegions || self->ExtractRegions
            ? tributary::freshArray<vtkIdTypeArray>(name.c_str(), 1, leaf.cells())
            : nullptr);
        range.Points.push_back(self->ColorRegions && leaf.dataSet
            ? tributary::freshArray<vtkIdTypeArray>(name.c_str(), 1, leaf.points())
            : nullptr);
        cells.push_back(range.Cells.back() ? range.Cells.back()->GetPointer(0) : nullptr);
        points.push_back(range.Points.back() ? range.Points.back()->GetPointer(0) : nullptr);
      }
    });
  tributary::writeRegions(this->Transport, *this->Domain, range.Regions, isSelected, cells, points);
  self->UpdateProgress(done + step);
  return true;
}

//------------------------------------------------------------------------------
/// The input with the new arrays, or what is extracted of it.
void vtkAsyncConnectivity::vtkRun::Write(vtkDataObject* input, vtkDataObject* output)
{
  auto* self = this->Self;
  // Extraction copies the arrays with the cells: it works on a copy of the input that has them.
  auto whole = vtkSmartPointer<vtkDataObject>::Take(input->NewInstance());
  whole->ShallowCopy(input);
  const std::vector<tributary::Leaf> leaves = tributary::leavesAndTreesOf(whole);
  for (std::size_t n = 0; self->ColorRegions && n < leaves.size(); ++n)
  {
    for (const Range& range : this->Ranges)
    {
      leaves[n].cellData()->AddArray(range.Cells[n]);
      if (leaves[n].dataSet)
      {
        leaves[n].dataSet->GetPointData()->AddArray(range.Points[n]);
      }
    }
  }
  // Data sets without points are no leaves, but should have the arrays that others have.
  tributary::forEachDataSet(whole,
    [&](vtkDataObject* object)
    {
      const bool isLeaf = std::any_of(leaves.begin(), leaves.end(),
        [&](const tributary::Leaf& leaf) { return leaf.object() == object; });
      for (std::size_t r = 0; self->ColorRegions && !isLeaf && r < this->Ranges.size(); ++r)
      {
        for (const int type : { vtkDataObject::CELL, vtkDataObject::POINT })
        {
          vtkNew<vtkIdTypeArray> none;
          none->SetName(numbered("RegionId", r).c_str());
          if (vtkDataSetAttributes* attributes = object->GetAttributes(type))
          {
            attributes->AddArray(none);
          }
        }
      }
    });
  if (self->ExtractRegions)
  {
    this->Extract(whole, output);
  }
  else
  {
    output->ShallowCopy(whole);
  }
}

//------------------------------------------------------------------------------
void vtkAsyncConnectivity::vtkRun::Extract(vtkDataObject* input, vtkDataObject* output)
{
  std::map<vtkDataObject*, vtkSmartPointer<vtkDataObject>> extracted;
  const std::vector<tributary::Leaf> leaves = tributary::leavesAndTreesOf(input);
  for (std::size_t n = 0; n < leaves.size(); ++n)
  {
    std::vector<vtkIdType> ids;
    const vtkIdType count = leaves[n].cells();
    for (vtkIdType c = 0; c < count; ++c)
    {
      for (const Range& range : this->Ranges)
      {
        if (range.Cells[n]->GetValue(c) >= 0)
        {
          ids.push_back(c);
          break;
        }
      }
    }
    if (leaves[n].trees)
    {
      extracted[leaves[n].trees] = tributary::maskOthers(leaves[n].trees, ids);
    }
    else
    {
      extracted[leaves[n].dataSet] = tributary::extractCells(leaves[n].dataSet, ids);
    }
  }
  auto* tree = vtkDataObjectTree::SafeDownCast(input);
  auto* outputTree = vtkDataObjectTree::SafeDownCast(output);
  if (vtkDataSet::SafeDownCast(input) || vtkHyperTreeGrid::SafeDownCast(input))
  {
    if (extracted.count(input) != 0)
    {
      output->ShallowCopy(extracted[input]);
    }
  }
  else if (tree && outputTree)
  {
    outputTree->CopyStructure(tree);
    auto iterator = vtkSmartPointer<vtkDataObjectTreeIterator>::Take(tree->NewTreeIterator());
    for (iterator->InitTraversal(); !iterator->IsDoneWithTraversal(); iterator->GoToNextItem())
    {
      const auto leaf = extracted.find(iterator->GetCurrentDataObject());
      if (leaf != extracted.end())
      {
        outputTree->SetDataSet(iterator, leaf->second);
      }
    }
  }
  else if (auto* blocks = vtkMultiBlockDataSet::SafeDownCast(output))
  {
    // A hierarchy's data sets must be images there: here its levels are put one after the other,
    // with places for the data sets of other ranks.
    auto* hierarchy = vtkUniformGridAMR::SafeDownCast(input);
    unsigned int block = 0;
    for (unsigned int level = 0; hierarchy && level < hierarchy->GetNumberOfLevels(); ++level)
    {
      for (unsigned int i = 0; i < hierarchy->GetNumberOfDataSets(level); ++i, ++block)
      {
        const auto leaf = extracted.find(hierarchy->GetDataSet(level, i));
        blocks->SetBlock(block, leaf != extracted.end() ? leaf->second : nullptr);
      }
    }
  }
  output->GetFieldData()->PassData(input->GetFieldData());
}

//------------------------------------------------------------------------------
void vtkAsyncConnectivity::vtkRun::WriteTable(vtkTable* table)
{
  vtkNew<vtkIdTypeArray> id, cells, points;
  vtkNew<vtkIntArray> range;
  vtkNew<vtkDoubleArray> measure, centroid, bounds;
  id->SetName("RegionId");
  range->SetName("Range");
  cells->SetName("Cells");
  points->SetName("Points");
  measure->SetName("Measure");
  centroid->SetName("Centroid");
  centroid->SetNumberOfComponents(3);
  bounds->SetName("Bounds");
  bounds->SetNumberOfComponents(6);
  std::vector<vtkSmartPointer<vtkDoubleArray>> columns;
  for (const std::string& column : this->Columns)
  {
    for (const char* what : { " Minimum", " Maximum", " Mean", " Integral" })
    {
      columns.push_back(vtkSmartPointer<vtkDoubleArray>::New());
      columns.back()->SetName((column + what).c_str());
    }
  }
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t r = 0; r < this->Ranges.size(); ++r)
  {
    const tributary::RegionTable& regions = this->Ranges[r].Regions.numbered.table;
    const tributary::FactScales& scales = this->Ranges[r].Regions.scales;
    for (std::size_t i = 0; i < regions.regions.size(); ++i)
    {
      const tributary::RegionFacts& facts = regions.regions[i];
      const std::int64_t number = regions.first + static_cast<std::int64_t>(i);
      if (!this->Ranges[r].Selection.has(number, facts.cells))
      {
        continue;
      }
      id->InsertNextValue(number);
      range->InsertNextValue(static_cast<int>(r));
      cells->InsertNextValue(facts.cells);
      points->InsertNextValue(facts.points);
      const double size = scales.hasMeasure ? scales.measure.value(facts.measure) : 0;
      const double weight = scales.hasMeasure ? size : static_cast<double>(facts.cells);
      measure->InsertNextValue(size);
      double center[3], box[6];
      for (std::size_t a = 0; a < 3; ++a)
      {
        center[a] = weight > 0 ? scales.moment.value(facts.moment[a]) / weight
                               : 0.5 * (facts.lo[a] + facts.hi[a]);
        box[2 * a] = facts.lo[a] + 0.0; // -0 is 0
        box[2 * a + 1] = facts.hi[a] + 0.0;
      }
      centroid->InsertNextTuple(center);
      bounds->InsertNextTuple(box);
      for (std::size_t v = 0; v < this->Columns.size(); ++v)
      {
        const tributary::ValueFacts& values = regions.values[i * this->Columns.size() + v];
        const bool good = values.notFinite == 0;
        const double integral = scales.integrals[v].value(values.integral);
        columns[4 * v]->InsertNextValue(good ? values.least : nan);
        columns[4 * v + 1]->InsertNextValue(good ? values.most : nan);
        columns[4 * v + 2]->InsertNextValue(good && weight > 0 ? integral / weight : nan);
        columns[4 * v + 3]->InsertNextValue(good ? integral : nan);
      }
    }
  }
  table->AddColumn(id);
  if (this->Ranges.size() > 1)
  {
    table->AddColumn(range);
  }
  table->AddColumn(cells);
  table->AddColumn(points);
  table->AddColumn(measure);
  table->AddColumn(centroid);
  table->AddColumn(bounds);
  for (const auto& column : columns)
  {
    table->AddColumn(column);
  }
}

//------------------------------------------------------------------------------
bool vtkAsyncConnectivity::vtkRun::Execute(vtkDataObject* input, vtkDataObject* output,
  vtkTable* table, tributary::RunStatistics& statistics)
{
  auto* self = this->Self;
  this->Leaves = tributary::leavesAndTreesOf(input);
  const auto labels = this->FindLabels();
  this->Tests = this->FindScalars();
  this->FindMeasured();
  constexpr tributary::Through throughs[] = { tributary::Through::Faces, tributary::Through::Edges,
    tributary::Through::Points };
  this->Domain =
    tributary::makeComponentDomain(this->Transport, this->Leaves, labels, self->LabelConnectivity,
      throughs[self->ConnectThrough], self->Tolerance, this->MakeUnionOptions(0.5 * SETUP_DONE));
  if (self->AbortedTogether(this->Transport, this->Domain->aborted))
  {
    return false;
  }
  statistics.phase("SetupSeconds");
  self->UpdateProgress(SETUP_DONE);

  this->Ranges.resize(self->ScalarConnectivity ? self->ScalarRanges.size() : 1);
  for (std::size_t r = 0; r < this->Ranges.size(); ++r)
  {
    if (!this->LabelRange(r))
    {
      return false;
    }
  }
  statistics.phase("LabellingSeconds");

  tributary::together(this->Transport,
    [&]
    {
      this->Write(input, output);
      this->WriteTable(table);
    });
  vtkNew<vtkIdTypeArray> total;
  total->SetName("NumberOfRegions");
  tributary::ExchangeStatistics exchange;
  for (const Range& range : this->Ranges)
  {
    total->InsertNextValue(range.Regions.numbered.table.total);
    exchange.add(range.Regions.statistics);
  }
  output->GetFieldData()->AddArray(total);
  statistics.count("Blocks", static_cast<std::int64_t>(this->Leaves.size()));
  statistics.add(exchange);
  statistics.phase("WritingSeconds");
  return true;
}

//------------------------------------------------------------------------------
vtkAsyncConnectivity::vtkAsyncConnectivity()
{
  this->SetNumberOfOutputPorts(2);
  this->SetInputArrayToProcess(
    0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS_THEN_CELLS, vtkDataSetAttributes::SCALARS);
  this->SetInputArrayToProcess(
    1, 0, 0, vtkDataObject::FIELD_ASSOCIATION_CELLS, vtkDataSetAttributes::SCALARS);
}

//------------------------------------------------------------------------------
vtkAsyncConnectivity::~vtkAsyncConnectivity() = default;

//------------------------------------------------------------------------------
void vtkAsyncConnectivity::AddSeed(vtkIdType id)
{
  this->SeedIds.push_back(id);
  this->Modified();
}

//------------------------------------------------------------------------------
void vtkAsyncConnectivity::DeleteSeed(vtkIdType id)
{
  if (removeFrom(this->SeedIds, id))
  {
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkAsyncConnectivity::InitializeSeedList()
{
  this->SeedIds.clear();
  this->Modified();
}

//------------------------------------------------------------------------------
void vtkAsyncConnectivity::AddSpecifiedRegion(vtkIdType id)
{
  this->SpecifiedRegionIds.push_back(id);
  this->Modified();
}

//------------------------------------------------------------------------------
void vtkAsyncConnectivity::DeleteSpecifiedRegion(vtkIdType id)
{
  if (removeFrom(this->SpecifiedRegionIds, id))
  {
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkAsyncConnectivity::InitializeSpecifiedRegionList()
{
  this->SpecifiedRegionIds.clear();
  this->Modified();
}

//------------------------------------------------------------------------------
void vtkAsyncConnectivity::SetScalarRange(double lo, double hi)
{
  this->SetNumberOfScalarRanges(1);
  this->SetScalarRange(0, lo, hi);
}

//------------------------------------------------------------------------------
void vtkAsyncConnectivity::SetScalarRange(int index, double lo, double hi)
{
  if (index < 0)
  {
    vtkErrorMacro("There is no scalar range " << index << "; the first one is 0.");
    return;
  }
  if (index >= this->GetNumberOfScalarRanges())
  {
    this->SetNumberOfScalarRanges(index + 1);
  }
  const std::array<double, 2> range{ lo, hi };
  if (this->ScalarRanges[static_cast<std::size_t>(index)] != range)
  {
    this->ScalarRanges[static_cast<std::size_t>(index)] = range;
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkAsyncConnectivity::GetScalarRange(int index, double range[2]) const
{
  const auto& kept = this->ScalarRanges.at(static_cast<std::size_t>(index));
  std::copy(kept.begin(), kept.end(), range);
}

//------------------------------------------------------------------------------
void vtkAsyncConnectivity::SetNumberOfScalarRanges(int count)
{
  if (count != this->GetNumberOfScalarRanges())
  {
    this->ScalarRanges.resize(static_cast<std::size_t>(std::max(count, 0)), { 0.0, 1.0 });
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkAsyncConnectivity::AddStatisticsArray(const char* name)
{
  if (name)
  {
    this->StatisticsArrays.emplace_back(name);
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkAsyncConnectivity::ClearStatisticsArrays()
{
  this->StatisticsArrays.clear();
  this->Modified();
}

//------------------------------------------------------------------------------
vtkTable* vtkAsyncConnectivity::GetRegionTable()
{
  return vtkTable::SafeDownCast(this->GetOutputDataObject(1));
}

//------------------------------------------------------------------------------
int vtkAsyncConnectivity::FillInputPortInformation(int port, vtkInformation* info)
{
  this->Superclass::FillInputPortInformation(port, info);
  info->Append(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkHyperTreeGrid");
  return 1;
}

//------------------------------------------------------------------------------
int vtkAsyncConnectivity::FillOutputPortInformation(int port, vtkInformation* info)
{
  info->Set(vtkDataObject::DATA_TYPE_NAME(), port == 0 ? "vtkDataObject" : "vtkTable");
  return 1;
}

//------------------------------------------------------------------------------
int vtkAsyncConnectivity::RequestDataObject(
  vtkInformation*, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  vtkDataObject* input = vtkDataObject::GetData(inputVector[0], 0);
  vtkSmartPointer<vtkDataObject> output;
  if (!input)
  {
    return 0;
  }
  if (!this->ExtractRegions || vtkDataObjectTree::SafeDownCast(input) ||
    vtkPolyData::SafeDownCast(input) || vtkHyperTreeGrid::SafeDownCast(input))
  {
    output.TakeReference(input->NewInstance());
  }
  else if (vtkDataSet::SafeDownCast(input))
  {
    output = vtkSmartPointer<vtkUnstructuredGrid>::New();
  }
  else
  {
    output = vtkSmartPointer<vtkMultiBlockDataSet>::New();
  }
  vtkInformation* info = outputVector->GetInformationObject(0);
  vtkDataObject* old = vtkDataObject::GetData(info);
  if (!old || old->GetDataObjectType() != output->GetDataObjectType())
  {
    info->Set(vtkDataObject::DATA_OBJECT(), output);
  }
  if (!vtkTable::GetData(outputVector, 1))
  {
    vtkNew<vtkTable> table;
    outputVector->GetInformationObject(1)->Set(vtkDataObject::DATA_OBJECT(), table);
  }
  return 1;
}

//------------------------------------------------------------------------------
bool vtkAsyncConnectivity::Execute(tributary::Transport& transport,
  vtkInformationVector** inputVector, vtkInformationVector* outputVector,
  tributary::RunStatistics& statistics)
{
  return vtkRun(this, transport)
    .Execute(vtkDataObject::GetData(inputVector[0], 0), vtkDataObject::GetData(outputVector, 0),
      vtkTable::GetData(outputVector, 1), statistics);
}

//------------------------------------------------------------------------------
void vtkAsyncConnectivity::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  const auto list = [&](const char* name, const auto& values)
  {
    os << indent << name << ":";
    for (const auto& value : values)
    {
      os << " " << value;
    }
    os << "\n";
  };
  os << indent << "ExtractionMode: " << this->ExtractionMode << "\n"
     << indent << "ExtractRegions: " << this->ExtractRegions << "\n"
     << indent << "ColorRegions: " << this->ColorRegions << "\n"
     << indent << "RegionIdAssignmentMode: " << this->RegionIdAssignmentMode << "\n";
  list("SeedIds", this->SeedIds);
  list("SpecifiedRegionIds", this->SpecifiedRegionIds);
  list("ClosestPoint", this->ClosestPoint);
  list("SizeRange", this->SizeRange);
  os << indent << "ScalarConnectivity: " << this->ScalarConnectivity << "\n"
     << indent << "FullScalarConnectivity: " << this->FullScalarConnectivity << "\n";
  for (const auto& range : this->ScalarRanges)
  {
    list("ScalarRange", range);
  }
  os << indent << "ConnectThrough: " << this->ConnectThrough << "\n"
     << indent << "LabelConnectivity: " << this->LabelConnectivity << "\n";
  list("StatisticsArrays", this->StatisticsArrays);
  os << indent << "Tolerance: " << this->Tolerance << "\n"
     << indent << "Method: " << this->Method << "\n";
}
