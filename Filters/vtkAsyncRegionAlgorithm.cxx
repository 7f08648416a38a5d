// SPDX-License-Identifier: BSD-3-Clause
#include "vtkAsyncRegionAlgorithm.h"

#include "Common/Leaves.h"
#include "Common/PropertyList.h"
#include "Common/Require.h"
#include "Periodic/PeriodicAxes.h"
#include "Regions/KeptDomain.h"
#include "Regions/RegionSettings.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Components/UnionTuner.h"

#include <vtkDataObject.h>
#include <vtkDataObjectTree.h>
#include <vtkDataSet.h>
#include <vtkDataSetAttributes.h>
#include <vtkHyperTreeGrid.h>
#include <vtkInformation.h>
#include <vtkPolyData.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

using tributary::require;

//------------------------------------------------------------------------------
vtkAsyncRegionAlgorithm::vtkAsyncRegionAlgorithm()
    : Kept(std::make_unique<tributary::KeptDomain>()) {
  this->SetInputArrayToProcess(0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS_THEN_CELLS,
                               vtkDataSetAttributes::SCALARS);
  this->SetInputArrayToProcess(1, 0, 0, vtkDataObject::FIELD_ASSOCIATION_CELLS,
                               vtkDataSetAttributes::SCALARS);
}

//------------------------------------------------------------------------------
vtkAsyncRegionAlgorithm::~vtkAsyncRegionAlgorithm() = default;

//------------------------------------------------------------------------------
void vtkAsyncRegionAlgorithm::CheckProperties() {
  if (this->ScalarConnectivity) {
    require(!this->ScalarRanges.empty(), "Scalar Range", "empty", "set it to one range or more");
    for (const auto& range : this->ScalarRanges) {
      require(!std::isnan(range[0]) && !std::isnan(range[1]), "Scalar Range", "not a number",
              "set it to two numbers");
      require(range[0] <= range[1], "Scalar Range", range[0], "its maximum, ", range[1],
              ", must not be less than its minimum");
    }
  }
  require(this->Tolerance >= 0 && this->Tolerance <= 0.5, "Tolerance", this->Tolerance,
          "set it to a fraction of a cell's diagonal in [0, 0.5]");
  tributary::checkPeriodic(this->MakePeriodicSettings());
}

//------------------------------------------------------------------------------
tributary::PeriodicSettings vtkAsyncRegionAlgorithm::MakePeriodicSettings() const {
  return tributary::PeriodicSettings::of(this->Periodic, this->Period);
}

//------------------------------------------------------------------------------
void vtkAsyncRegionAlgorithm::DescribeProperties(tributary::PropertyList& list) {
  list.add("Connect Through", this->ConnectThrough);
  list.add("Tolerance", this->Tolerance);
  list.addAll("Periodic", this->Periodic);
  list.addAll("Period", this->Period);
  list.add("Method", this->Method);
  list.add("Scalar Connectivity", this->ScalarConnectivity);
  if (this->ScalarConnectivity) {
    this->DescribeArray(list, "Scalars", 0);
    list.add("Full Scalar Connectivity", this->FullScalarConnectivity);
    std::vector<double> bounds;
    for (const auto& range : this->ScalarRanges) {
      bounds.insert(bounds.end(), range.begin(), range.end());
    }
    list.addAll("Scalar Range", bounds);
  }
  list.add("Label Connectivity", this->LabelConnectivity);
  if (this->LabelConnectivity) {
    this->DescribeArray(list, "Labels", 1);
  }
}

//------------------------------------------------------------------------------
std::string vtkAsyncRegionAlgorithm::ClassOfOutput(int port, vtkDataObject* input) {
  if (port > 0 || !this->ExtractRegions || vtkDataObjectTree::SafeDownCast(input) ||
      vtkPolyData::SafeDownCast(input) || vtkHyperTreeGrid::SafeDownCast(input)) {
    return this->Superclass::ClassOfOutput(port, input);
  }
  return vtkDataSet::SafeDownCast(input) ? "vtkUnstructuredGrid" : "vtkMultiBlockDataSet";
}

//------------------------------------------------------------------------------
tributary::FindArray vtkAsyncRegionAlgorithm::Finder(int index) {
  return [this, index](const tributary::Leaf& leaf, int& association) {
    if (leaf.trees &&
        this->GetInputArrayInformation(index)->Get(vtkDataObject::FIELD_ASSOCIATION()) ==
            vtkDataObject::FIELD_ASSOCIATION_POINTS) {
      throw tributary::Error(std::string(index == 0 ? "Scalars" : "Labels") +
                             " names an array of points, but hyper tree grids have arrays of cells "
                             "only; choose one of these");
    }
    return this->GetInputArrayToProcess(index, leaf.object(), association);
  };
}

//------------------------------------------------------------------------------
tributary::RegionSettings vtkAsyncRegionAlgorithm::MakeRegionSettings() {
  if (!this->AutoTune) {
    this->Tuner.reset();
  } else if (!this->Tuner) {
    this->Tuner = std::make_unique<tributary::UnionTuner>();
  }
  constexpr tributary::Through Throughs[] = {tributary::Through::Faces, tributary::Through::Edges,
                                             tributary::Through::Points};
  tributary::RegionSettings settings;
  settings.scalarConnectivity = this->ScalarConnectivity;
  settings.fullScalarConnectivity = this->FullScalarConnectivity;
  settings.scalarRanges = this->ScalarRanges;
  settings.through = Throughs[this->ConnectThrough];
  settings.labelConnectivity = this->LabelConnectivity;
  settings.tolerance = this->Tolerance;
  settings.extractRegions = this->ExtractRegions;
  settings.periodic = this->MakePeriodicSettings();
  settings.method = this->Method == TREE_UNION ? tributary::UnionMethod::TreeUnion
                                               : tributary::UnionMethod::LabelPropagation;
  settings.exchange = this->MakeExchangeOptions();
  settings.tuner = this->Tuner.get();
  settings.scalars = this->Finder(0);
  settings.labels = this->Finder(1);
  settings.kept = this->Kept.get();
  settings.keepDomain = this->KeepDomain && !this->GetReleaseDataFlag();
  return settings;
}

//------------------------------------------------------------------------------
void vtkAsyncRegionAlgorithm::ForgetExecution() {
  this->Kept->release();
  if (this->Tuner) {
    (void)this->Tuner->takeTuning();
  }
}

//------------------------------------------------------------------------------
void vtkAsyncRegionAlgorithm::SetScalarRange(double lo, double hi) {
  this->SetNumberOfScalarRanges(1);
  this->SetScalarRange(0, lo, hi);
}

//------------------------------------------------------------------------------
void vtkAsyncRegionAlgorithm::SetScalarRange(int index, double lo, double hi) {
  if (index < 0) {
    vtkErrorMacro("There is no scalar range " << index << "; the first one is 0.");
    return;
  }
  if (index >= this->GetNumberOfScalarRanges()) {
    this->SetNumberOfScalarRanges(index + 1);
  }
  const std::array<double, 2> range{lo, hi};
  if (this->ScalarRanges[static_cast<std::size_t>(index)] != range) {
    this->ScalarRanges[static_cast<std::size_t>(index)] = range;
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkAsyncRegionAlgorithm::GetScalarRange(int index, double range[2]) const {
  if (index < 0 || static_cast<std::size_t>(index) >= this->ScalarRanges.size()) {
    vtkErrorMacro("There is no scalar range " << index << ".");
    return;
  }
  const auto& kept = this->ScalarRanges[static_cast<std::size_t>(index)];
  std::copy(kept.begin(), kept.end(), range);
}

//------------------------------------------------------------------------------
void vtkAsyncRegionAlgorithm::SetNumberOfScalarRanges(int count) {
  if (count != this->GetNumberOfScalarRanges()) {
    this->ScalarRanges.resize(static_cast<std::size_t>(std::max(count, 0)), {0.0, 1.0});
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkAsyncRegionAlgorithm::PrintSelf(ostream& os, vtkIndent indent) {
  this->Superclass::PrintSelf(os, indent);
  os << indent << "ScalarConnectivity: " << this->ScalarConnectivity << "\n"
     << indent << "FullScalarConnectivity: " << this->FullScalarConnectivity << "\n";
  for (const auto& range : this->ScalarRanges) {
    os << indent << "ScalarRange: " << range[0] << " " << range[1] << "\n";
  }
  os << indent << "ConnectThrough: " << this->ConnectThrough << "\n"
     << indent << "LabelConnectivity: " << this->LabelConnectivity << "\n";
  os << indent << "Tolerance: " << this->Tolerance << "\n"
     << indent << "Periodic: " << this->Periodic[0] << " " << this->Periodic[1] << " "
     << this->Periodic[2] << "\n"
     << indent << "Period: " << this->Period[0] << " " << this->Period[1] << " " << this->Period[2]
     << "\n"
     << indent << "ExtractRegions: " << this->ExtractRegions << "\n"
     << indent << "Method: " << this->Method << "\n"
     << indent << "KeepDomain: " << this->KeepDomain << "\n";
}
