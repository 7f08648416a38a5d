// SPDX-License-Identifier: BSD-3-Clause
#include "vtkAsyncConnectivity.h"

#include "Common/Leaves.h"
#include "Common/PropertyList.h"
#include "Common/Require.h"
#include "Common/RunStatistics.h"
#include "Regions/ComponentDomain.h"
#include "Regions/RegionArrays.h"
#include "Regions/RegionSelection.h"
#include "Regions/RegionWriting.h"

#include "Tributary/Collective/Agree.h"

#include <vtkDataObject.h>
#include <vtkDataObjectTree.h>
#include <vtkDataSet.h>
#include <vtkFieldData.h>
#include <vtkHyperTreeGrid.h>
#include <vtkIdTypeArray.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkNew.h>
#include <vtkObjectFactory.h>
#include <vtkPolyData.h>
#include <vtkTable.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

vtkStandardNewMacro(vtkAsyncConnectivity);

namespace {
using tributary::require;

/// Share of the progress bar when all data sets are known.
constexpr double SETUP_DONE = 0.1;

/// @return whether it was there
bool removeFrom(std::vector<vtkIdType>& ids, vtkIdType id) {
  const auto end = std::remove(ids.begin(), ids.end(), id);
  const bool found = end != ids.end();
  ids.erase(end, ids.end());
  return found;
}
}  // anonymous namespace

//------------------------------------------------------------------------------
/// One execution on one rank. Every member function is collective, but those that make the outputs.
class vtkAsyncConnectivity::vtkRun {
 public:
  vtkRun(vtkAsyncConnectivity* self, tributary::Transport& transport)
      : Self(self), Transport(transport) {}

  /// @return false after an abort
  bool Execute(vtkDataObject* input, vtkDataObject* output, vtkTable* table,
               tributary::RunStatistics& statistics);

 private:
  tributary::RegionSelection Select(const tributary::RangeRegions& regions);
  bool LabelRange(std::size_t range);

  vtkAsyncConnectivity* Self;
  tributary::Transport& Transport;
  std::vector<tributary::Leaf> Leaves;
  std::unique_ptr<tributary::ComponentDomain> Domain;
  std::vector<tributary::RangeTest> Tests;
  tributary::MeasuredColumns Measured;
  std::vector<tributary::ShownRange> Ranges;
};

//------------------------------------------------------------------------------
void vtkAsyncConnectivity::CheckProperties() {
  this->Superclass::CheckProperties();
  if (this->ExtractionMode == CLOSEST_POINT) {
    for (const double x : this->ClosestPoint) {
      require(std::isfinite(x), "ClosestPoint", x, "set it to finite coordinates");
    }
  }
  if (this->ExtractionMode == SIZE_RANGE) {
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
void vtkAsyncConnectivity::DescribeProperties(tributary::PropertyList& list) {
  list.add("ExtractionMode", this->ExtractionMode);
  list.add("ExtractRegions", this->ExtractRegions);
  list.add("ColorRegions", this->ColorRegions);
  list.add("RegionIdAssignmentMode", this->RegionIdAssignmentMode);
  list.addAll("SeedIds", this->SeedIds);
  list.addAll("SpecifiedRegionIds", this->SpecifiedRegionIds);
  list.addAll("ClosestPoint", this->ClosestPoint);
  list.addAll("SizeRange", this->SizeRange);
  list.addAll("StatisticsArrays", this->StatisticsArrays);
  this->Superclass::DescribeProperties(list);
}

//------------------------------------------------------------------------------
tributary::RegionSelection vtkAsyncConnectivity::vtkRun::Select(
    const tributary::RangeRegions& regions) {
  auto* self = this->Self;
  const std::vector<std::int64_t> seeds(self->SeedIds.begin(), self->SeedIds.end());
  switch (self->ExtractionMode) {
    case POINT_SEEDED:
      return tributary::selectAtPoints(this->Transport, *this->Domain, regions, seeds);
    case CELL_SEEDED:
      return tributary::selectAtCells(this->Transport, *this->Domain, regions, seeds);
    case SPECIFIED:
      return tributary::selectSpecified(regions.numbered.table,
                                        std::vector<std::int64_t>(self->SpecifiedRegionIds.begin(),
                                                                  self->SpecifiedRegionIds.end()));
    case LARGEST:
      return tributary::selectLargest(this->Transport, regions.numbered.table);
    case CLOSEST_POINT:
      return tributary::selectNearest(
          this->Transport, *this->Domain, regions,
          {self->ClosestPoint[0], self->ClosestPoint[1], self->ClosestPoint[2]});
    case SIZE_RANGE:
      return tributary::selectBySize(self->SizeRange[0],
                                     self->SizeRange[1] == 0 ? VTK_ID_MAX : self->SizeRange[1]);
    default:
      break;
  }
  tributary::RegionSelection all;
  all.all = true;
  return all;
}

//------------------------------------------------------------------------------
/// @return false after an abort
bool vtkAsyncConnectivity::vtkRun::LabelRange(std::size_t number) {
  auto* self = this->Self;
  const double step = (1 - SETUP_DONE) / static_cast<double>(this->Ranges.size());
  const double done = SETUP_DONE + step * static_cast<double>(number);
  tributary::ShownRange& range = this->Ranges[number];
  self->SetRange(this->Tests, number);
  constexpr tributary::RegionOrder orders[] = {tributary::RegionOrder::LeastKey,
                                               tributary::RegionOrder::MostCells,
                                               tributary::RegionOrder::FewestCells};
  range.regions =
      tributary::findRegions(this->Transport, *this->Domain, this->Tests, this->Measured.arrays,
                             this->Measured.names.size(), orders[self->RegionIdAssignmentMode],
                             self->MakeTunedUnionOptions(this->Transport, done + 0.5 * step));
  if (self->AbortedTogether(this->Transport, range.regions.aborted)) {
    return false;
  }

  range.selection = this->Select(range.regions);
  tributary::showRegions(this->Transport, *this->Domain, this->Leaves,
                         tributary::nameOfRange(number), self->ColorRegions || self->ExtractRegions,
                         self->ColorRegions, range);
  self->UpdateProgress(done + step);
  return true;
}

//------------------------------------------------------------------------------
bool vtkAsyncConnectivity::vtkRun::Execute(vtkDataObject* input, vtkDataObject* output,
                                           vtkTable* table, tributary::RunStatistics& statistics) {
  auto* self = this->Self;
  this->Leaves = tributary::leavesAndTreesOf(input);
  this->Tests = self->SelectTests(this->Transport, this->Leaves);
  this->Measured = tributary::findMeasured(this->Transport, this->Leaves, self->StatisticsArrays);
  this->Domain = self->MakeDomain(this->Transport, this->Leaves, 0.5 * SETUP_DONE);
  if (self->AbortedTogether(this->Transport, this->Domain->aborted)) {
    return false;
  }
  statistics.phase("SetupSeconds");
  self->UpdateProgress(SETUP_DONE);

  this->Ranges.resize(self->ScalarConnectivity ? self->ScalarRanges.size() : 1);
  for (std::size_t r = 0; r < this->Ranges.size(); ++r) {
    if (!this->LabelRange(r)) {
      return false;
    }
  }
  statistics.phase("LabelingSeconds");

  tributary::collectively(this->Transport, [&] {
    tributary::writeData(input, this->Ranges, self->ColorRegions, self->ExtractRegions, output);
    tributary::writeTable(this->Ranges, this->Measured.names, table);
  });
  vtkNew<vtkIdTypeArray> total;
  total->SetName("NumberOfRegions");
  tributary::ExchangeStatistics exchange;
  for (const tributary::ShownRange& range : this->Ranges) {
    total->InsertNextValue(range.regions.numbered.table.total);
    exchange.add(range.regions.statistics);
  }
  output->GetFieldData()->AddArray(total);
  statistics.count("Blocks", static_cast<std::int64_t>(this->Leaves.size()));
  statistics.add(exchange);
  self->DescribeTuning(statistics);
  statistics.phase("WritingSeconds");
  return true;
}

//------------------------------------------------------------------------------
vtkAsyncConnectivity::vtkAsyncConnectivity() {
  this->SetNumberOfOutputPorts(2);
}

//------------------------------------------------------------------------------
vtkAsyncConnectivity::~vtkAsyncConnectivity() = default;

//------------------------------------------------------------------------------
void vtkAsyncConnectivity::AddSeed(vtkIdType id) {
  this->SeedIds.push_back(id);
  this->Modified();
}

//------------------------------------------------------------------------------
void vtkAsyncConnectivity::DeleteSeed(vtkIdType id) {
  if (removeFrom(this->SeedIds, id)) {
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkAsyncConnectivity::InitializeSeedList() {
  this->SeedIds.clear();
  this->Modified();
}

//------------------------------------------------------------------------------
void vtkAsyncConnectivity::AddSpecifiedRegion(vtkIdType id) {
  this->SpecifiedRegionIds.push_back(id);
  this->Modified();
}

//------------------------------------------------------------------------------
void vtkAsyncConnectivity::DeleteSpecifiedRegion(vtkIdType id) {
  if (removeFrom(this->SpecifiedRegionIds, id)) {
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkAsyncConnectivity::InitializeSpecifiedRegionList() {
  this->SpecifiedRegionIds.clear();
  this->Modified();
}

//------------------------------------------------------------------------------
void vtkAsyncConnectivity::AddStatisticsArray(const char* name) {
  if (name) {
    this->StatisticsArrays.emplace_back(name);
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkAsyncConnectivity::ClearStatisticsArrays() {
  this->StatisticsArrays.clear();
  this->Modified();
}

//------------------------------------------------------------------------------
vtkTable* vtkAsyncConnectivity::GetRegionTable() {
  return vtkTable::SafeDownCast(this->GetOutputDataObject(1));
}

//------------------------------------------------------------------------------
int vtkAsyncConnectivity::FillInputPortInformation(int port, vtkInformation* info) {
  this->Superclass::FillInputPortInformation(port, info);
  info->Append(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkHyperTreeGrid");
  return 1;
}

//------------------------------------------------------------------------------
int vtkAsyncConnectivity::FillOutputPortInformation(int port, vtkInformation* info) {
  info->Set(vtkDataObject::DATA_TYPE_NAME(), port == 0 ? "vtkDataObject" : "vtkTable");
  return 1;
}

//------------------------------------------------------------------------------
std::string vtkAsyncConnectivity::ClassOfOutput(int port, vtkDataObject* input) {
  if (port > 0 || !this->ExtractRegions || vtkDataObjectTree::SafeDownCast(input) ||
      vtkPolyData::SafeDownCast(input) || vtkHyperTreeGrid::SafeDownCast(input)) {
    return this->Superclass::ClassOfOutput(port, input);
  }
  return vtkDataSet::SafeDownCast(input) ? "vtkUnstructuredGrid" : "vtkMultiBlockDataSet";
}

//------------------------------------------------------------------------------
bool vtkAsyncConnectivity::Execute(tributary::Transport& transport,
                                   vtkInformationVector** inputVector,
                                   vtkInformationVector* outputVector,
                                   tributary::RunStatistics& statistics) {
  return vtkRun(this, transport)
      .Execute(vtkDataObject::GetData(inputVector[0], 0), vtkDataObject::GetData(outputVector, 0),
               vtkTable::GetData(outputVector, 1), statistics);
}

//------------------------------------------------------------------------------
void vtkAsyncConnectivity::PrintSelf(ostream& os, vtkIndent indent) {
  this->Superclass::PrintSelf(os, indent);
  const auto list = [&](const char* name, const auto& values) {
    os << indent << name << ":";
    for (const auto& value : values) {
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
  list("StatisticsArrays", this->StatisticsArrays);
}
