// SPDX-License-Identifier: BSD-3-Clause
#include "vtkAsyncConnectivity.h"

#include "Common/PropertyList.h"
#include "Common/Require.h"
#include "Common/RunContext.h"
#include "Regions/ConnectivityRun.h"

#include <vtkDataObject.h>
#include <vtkHyperTreeGrid.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkObjectFactory.h>
#include <vtkTable.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

vtkStandardNewMacro(vtkAsyncConnectivity);

namespace {
using tributary::require;

/// @return whether the id was in the list
bool removeFrom(std::vector<vtkIdType>& ids, vtkIdType id) {
  const auto end = std::remove(ids.begin(), ids.end(), id);
  const bool found = end != ids.end();
  ids.erase(end, ids.end());
  return found;
}
}  // anonymous namespace

//------------------------------------------------------------------------------
void vtkAsyncConnectivity::CheckProperties() {
  this->Superclass::CheckProperties();
  if (this->ExtractionMode == CLOSEST_POINT) {
    for (const double x : this->ClosestPoint) {
      require(std::isfinite(x), "Closest Point", x, "set it to finite coordinates");
    }
  }
  if (this->ExtractionMode == SIZE_RANGE) {
    const vtkIdType least = this->SizeRange[0], most = this->SizeRange[1];
    require(least >= 0, "Size Range", least, "set its minimum to 0 or more cells");
    require(most >= 0, "Size Range", most, "set its maximum to 0 for no limit, or to more cells");
    require(most == 0 || least <= most, "Size Range", least, "its maximum, ", most,
            ", must not be less than its minimum");
  }
  require(this->ExtractionMode != SPECIFIED || !this->SpecifiedRegionIds.empty(),
          "Specified Region Ids", "empty", "name the regions, or choose another Extraction Mode");
  require((this->ExtractionMode != POINT_SEEDED && this->ExtractionMode != CELL_SEEDED) ||
              !this->SeedIds.empty(),
          "Seed Ids", "empty", "name the seeds, or choose another Extraction Mode");
}

//------------------------------------------------------------------------------
void vtkAsyncConnectivity::DescribeProperties(tributary::PropertyList& list) {
  list.add("Extraction Mode", this->ExtractionMode);
  list.add("Extract Regions", this->ExtractRegions);
  list.add("Color Regions", this->ColorRegions);
  list.add("Region Id Assignment Mode", this->RegionIdAssignmentMode);
  list.addAll("Seed Ids", this->SeedIds);
  list.addAll("Specified Region Ids", this->SpecifiedRegionIds);
  list.addAll("Closest Point", this->ClosestPoint);
  list.addAll("Size Range", this->SizeRange);
  list.addAll("Statistics Arrays", this->StatisticsArrays);
  this->Superclass::DescribeProperties(list);
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
bool vtkAsyncConnectivity::CanProcess(vtkDataObject* input) {
  return vtkHyperTreeGrid::SafeDownCast(input) || this->Superclass::CanProcess(input);
}

//------------------------------------------------------------------------------
int vtkAsyncConnectivity::FillOutputPortInformation(int port, vtkInformation* info) {
  info->Set(vtkDataObject::DATA_TYPE_NAME(), port == 0 ? "vtkDataObject" : "vtkTable");
  return 1;
}

//------------------------------------------------------------------------------
bool vtkAsyncConnectivity::Execute(tributary::Transport& transport,
                                   vtkInformationVector** inputVector,
                                   vtkInformationVector* outputVector,
                                   tributary::RunStatistics& statistics) {
  using Extraction = tributary::ConnectivitySettings::Extraction;
  constexpr Extraction Extractions[] = {
      Extraction::PointSeeded, Extraction::CellSeeded,   Extraction::Specified, Extraction::Largest,
      Extraction::All,         Extraction::ClosestPoint, Extraction::SizeRange};
  constexpr tributary::RegionOrder Orders[] = {tributary::RegionOrder::LeastKey,
                                               tributary::RegionOrder::MostCells,
                                               tributary::RegionOrder::FewestCells};
  tributary::ConnectivitySettings settings;
  settings.regions = this->MakeRegionSettings();
  settings.extraction = Extractions[this->ExtractionMode - POINT_SEEDED];
  settings.colorRegions = this->ColorRegions;
  settings.order = Orders[this->RegionIdAssignmentMode];
  settings.seeds.assign(this->SeedIds.begin(), this->SeedIds.end());
  settings.specified.assign(this->SpecifiedRegionIds.begin(), this->SpecifiedRegionIds.end());
  std::copy_n(this->ClosestPoint, 3, settings.closestPoint.begin());
  settings.leastCells = this->SizeRange[0];
  settings.mostCells = this->SizeRange[1];
  settings.measuredNames = this->StatisticsArrays;
  const tributary::RunContext context = this->MakeRunContext(transport, statistics);
  return tributary::ConnectivityRun(context, settings)
      .execute(vtkDataObject::GetData(inputVector[0], 0), vtkDataObject::GetData(outputVector, 0),
               vtkTable::GetData(outputVector, 1));
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
     << indent << "ColorRegions: " << this->ColorRegions << "\n"
     << indent << "RegionIdAssignmentMode: " << this->RegionIdAssignmentMode << "\n";
  list("SeedIds", this->SeedIds);
  list("SpecifiedRegionIds", this->SpecifiedRegionIds);
  list("ClosestPoint", this->ClosestPoint);
  list("SizeRange", this->SizeRange);
  list("StatisticsArrays", this->StatisticsArrays);
}
