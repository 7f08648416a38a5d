// SPDX-License-Identifier: BSD-3-Clause
#include "vtkAsyncFeatureTracker.h"

#include "Common/PropertyList.h"
#include "Common/Require.h"
#include "Common/RunContext.h"
#include "Features/FeatureTrackerRun.h"
#include "Time/DataTime.h"

#include "Tributary/Base/Error.h"

#include <vtkDataObject.h>
#include <vtkDataSetAttributes.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkObjectFactory.h>
#include <vtkPolyData.h>
#include <vtkStreamingDemandDrivenPipeline.h>
#include <vtkTable.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

vtkStandardNewMacro(vtkAsyncFeatureTracker);

namespace {
using Pipeline = vtkStreamingDemandDrivenPipeline;
using tributary::require;

enum Ports { MESH_PORT, TRAJECTORIES_PORT, FEATURES_PORT, EVENTS_PORT, EDGES_PORT, PORT_COUNT };
}  // anonymous namespace

//------------------------------------------------------------------------------
vtkAsyncFeatureTracker::vtkAsyncFeatureTracker()
    : State(std::make_unique<tributary::FeatureTrackerState>()) {
  this->ExtractRegions = true;  // other cells would hide the trajectories
  this->SetNumberOfOutputPorts(PORT_COUNT);
  this->ScalarConnectivity = true;
  this->SetInputArrayToProcess(2, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS_THEN_CELLS,
                               vtkDataSetAttributes::VECTORS);
  this->SetInputArrayToProcess(3, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS,
                               vtkDataSetAttributes::SCALARS);
}

//------------------------------------------------------------------------------
vtkAsyncFeatureTracker::~vtkAsyncFeatureTracker() = default;

//------------------------------------------------------------------------------
void vtkAsyncFeatureTracker::CheckProperties() {
  this->Superclass::CheckProperties();
  require(!this->ScalarConnectivity || this->GetNumberOfScalarRanges() == 1, "Scalar Range",
          "a list of several ranges", "set it to one range");
  require(this->Features != CRITICAL_POINTS ||
              (this->Periodic[0] == 0 && this->Periodic[1] == 0 && this->Periodic[2] == 0),
          "Periodic", "on",
          "critical points do not continue at the sides: set it to 0, or track regions");
  require(this->MinimumOverlap >= 0 && this->MinimumOverlap <= 1, "Minimum Overlap",
          this->MinimumOverlap, "set it to a fraction in [0, 1]");
  require(this->MinimumSecondaryOverlap >= 0 && this->MinimumSecondaryOverlap <= 1,
          "Minimum Secondary Overlap", this->MinimumSecondaryOverlap,
          "set it to a fraction in [0, 1]");
  require(this->CenterTolerance >= 0 && this->CenterTolerance <= 1, "Center Tolerance",
          this->CenterTolerance, "set it to a ratio in [0, 1]");
  require(this->CheckpointInterval >= 1, "Checkpoint Interval", this->CheckpointInterval,
          "set it to 1 or more");
  if (!this->State->checkpoints.error().empty()) {
    throw tributary::Error(this->State->checkpoints.error());
  }
}

//------------------------------------------------------------------------------
void vtkAsyncFeatureTracker::DescribeTracking(tributary::PropertyList& list) {
  list.add("Features", this->Features);
  if (this->Features == CRITICAL_POINTS) {
    list.add("Center Tolerance", this->CenterTolerance);
    this->DescribeArray(list, "Critical Field", 3);
    list.add("Method", this->Method);
    return;
  }
  this->Superclass::DescribeProperties(list);
  list.add("Match", this->Match);
  list.add("Overlap Fraction", this->OverlapFraction);
  list.add("Minimum Overlap", this->MinimumOverlap);
  list.add("Minimum Secondary Overlap", this->MinimumSecondaryOverlap);
  list.add("Motion", this->Motion);
  if (this->Motion == VELOCITY_FIELD) {
    this->DescribeArray(list, "Velocity", 2);
  }
}

//------------------------------------------------------------------------------
void vtkAsyncFeatureTracker::DescribeProperties(tributary::PropertyList& list) {
  this->DescribeTracking(list);
  if (this->Features != CRITICAL_POINTS) {
    list.add("Center Tolerance", this->CenterTolerance);
    this->DescribeArray(list, "Critical Field", 3);
  }
  list.add("Extract Regions", this->ExtractRegions);
  list.add("Resume", this->Resume);
  // Ranks must also be in the same step.
  const tributary::TimePlan& plan = this->State->time;
  list.addAll("the list of time steps", plan.steps());
  list.add("the requested time step", plan.goal());
  list.add("the next time step", plan.next());
  list.add("whether to begin with a first step", plan.beginsAnew());
  list.add("the time of the last step", plan.lastTime());
  list.add("Checkpoint Directory", this->CheckpointDirectory);
  list.add("Checkpoint Interval", this->CheckpointInterval);
  list.add("the checkpoint to resume", this->State->checkpoints.foundGeneration());
}

//------------------------------------------------------------------------------
int vtkAsyncFeatureTracker::FillOutputPortInformation(int port, vtkInformation* info) {
  info->Set(vtkDataObject::DATA_TYPE_NAME(), port == MESH_PORT           ? "vtkDataObject"
                                             : port == TRAJECTORIES_PORT ? "vtkPolyData"
                                                                         : "vtkTable");
  return 1;
}

//------------------------------------------------------------------------------
std::string vtkAsyncFeatureTracker::ClassOfOutput(int port, vtkDataObject* input) {
  // Critical points have no cells to extract.
  return this->Features == CRITICAL_POINTS ? this->vtkAsyncAlgorithm::ClassOfOutput(port, input)
                                           : this->Superclass::ClassOfOutput(port, input);
}

//------------------------------------------------------------------------------
int vtkAsyncFeatureTracker::RequestUpdateExtent(vtkInformation* request,
                                                vtkInformationVector** inputVector,
                                                vtkInformationVector* outputVector) {
  this->Superclass::RequestUpdateExtent(request, inputVector, outputVector);
  vtkInformation* input = inputVector[0]->GetInformationObject(0);
  if (!this->IsUnderWay) {
    tributary::FeatureTrackerState::Basis basis;
    this->DescribeTracking(basis.properties);
    basis.input = this->GetInputAlgorithm(0, 0, basis.inputPort);
    this->State->plan(tributary::reportedTimes(input),
                      tributary::requestedTime(request, outputVector), std::move(basis),
                      this->IsWhole);
    this->State->planToResume(this->Resume ? this->CheckpointDirectory : std::string());
  }
  const tributary::TimePlan& plan = this->State->time;
  if (!plan.steps().empty()) {
    input->Set(Pipeline::UPDATE_TIME_STEP(), plan.steps()[plan.next()]);
  }
  return 1;
}

//------------------------------------------------------------------------------
tributary::FeatureTrackerSettings vtkAsyncFeatureTracker::MakeSettings() {
  using tributary::Leaf;
  tributary::FeatureTrackerSettings settings;
  settings.criticalPoints = this->Features == CRITICAL_POINTS;
  settings.centerTolerance = this->CenterTolerance;
  settings.tracking.match =
      this->Match == BEST ? tributary::FeatureMatch::Best : tributary::FeatureMatch::All;
  settings.tracking.overlapOf = this->OverlapFraction == OF_LARGER ? tributary::OverlapOf::Larger
                                                                   : tributary::OverlapOf::Smaller;
  settings.tracking.minimumOverlap = this->MinimumOverlap;
  settings.tracking.minimumSecondaryOverlap = this->MinimumSecondaryOverlap;
  settings.tracking.motion = this->Motion == ESTIMATED ? tributary::FeatureMotion::Estimated
                                                       : tributary::FeatureMotion::None;
  settings.usesVelocity = this->Motion == VELOCITY_FIELD;
  settings.regions = this->MakeRegionSettings();
  settings.checkpoints.directory = this->CheckpointDirectory;
  settings.checkpoints.interval = this->CheckpointInterval;
  settings.findVelocity = [this](const Leaf& leaf, int& association) {
    return this->GetInputArrayToProcess(2, leaf.object(), association);
  };
  settings.findCriticalField = this->Finder(3);
  return settings;
}

//------------------------------------------------------------------------------
bool vtkAsyncFeatureTracker::Execute(tributary::Transport& transport,
                                     vtkInformationVector** inputVector,
                                     vtkInformationVector* outputVector,
                                     tributary::RunStatistics& statistics) {
  const tributary::RunContext context = this->MakeRunContext(transport, statistics);
  const tributary::FeatureTrackerSettings settings = this->MakeSettings();
  tributary::FeatureTrackerRun run(context, settings, *this->State);
  const bool isWhole = run.execute(
      vtkDataObject::GetData(inputVector[0], 0),
      {vtkDataObject::GetData(outputVector, MESH_PORT),
       vtkPolyData::GetData(outputVector, TRAJECTORIES_PORT),
       vtkTable::GetData(outputVector, FEATURES_PORT), vtkTable::GetData(outputVector, EVENTS_PORT),
       vtkTable::GetData(outputVector, EDGES_PORT)});
  this->IsUnderWay = run.isUnderWay();
  return isWhole;
}

//------------------------------------------------------------------------------
void vtkAsyncFeatureTracker::PrintSelf(ostream& os, vtkIndent indent) {
  this->Superclass::PrintSelf(os, indent);
  os << indent << "Features: " << this->Features << "\n"
     << indent << "CenterTolerance: " << this->CenterTolerance << "\n"
     << indent << "CheckpointDirectory: " << this->CheckpointDirectory << "\n"
     << indent << "CheckpointInterval: " << this->CheckpointInterval << "\n"
     << indent << "Resume: " << this->Resume << "\n"
     << indent << "Match: " << this->Match << "\n"
     << indent << "OverlapFraction: " << this->OverlapFraction << "\n"
     << indent << "MinimumOverlap: " << this->MinimumOverlap << "\n"
     << indent << "MinimumSecondaryOverlap: " << this->MinimumSecondaryOverlap << "\n"
     << indent << "Motion: " << this->Motion << "\n";
}
