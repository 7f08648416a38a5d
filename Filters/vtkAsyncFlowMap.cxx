// SPDX-License-Identifier: BSD-3-Clause
#include "vtkAsyncFlowMap.h"

#include "Common/PropertyList.h"
#include "Common/Require.h"
#include "Common/RunContext.h"
#include "FlowMap/FlowMapRun.h"
#include "Time/DataTime.h"

#include <vtkDataObject.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkObjectFactory.h>
#include <vtkStreamingDemandDrivenPipeline.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

vtkStandardNewMacro(vtkAsyncFlowMap);

namespace {
using Pipeline = vtkStreamingDemandDrivenPipeline;

/// The largest number of points of a grid: their numbers are exact as doubles.
constexpr double MostPoints = 1e15;

/// The extent of the grid that this rank outputs; empty without a grid.
std::array<int, 6> extentOf(vtkInformationVector* outputVector) {
  std::array<int, 6> extent{0, -1, 0, -1, 0, -1};
  vtkInformation* output = outputVector->GetInformationObject(0);
  if (output->Has(Pipeline::UPDATE_EXTENT())) {
    output->Get(Pipeline::UPDATE_EXTENT(), extent.data());
  }
  return extent;
}
}  // anonymous namespace

//------------------------------------------------------------------------------
vtkAsyncFlowMap::vtkAsyncFlowMap()
    : vtkAsyncParticleAlgorithm(0.0), State(new tributary::FlowMapState) {}

//------------------------------------------------------------------------------
vtkAsyncFlowMap::~vtkAsyncFlowMap() = default;

//------------------------------------------------------------------------------
int vtkAsyncFlowMap::FillOutputPortInformation(int, vtkInformation* info) {
  info->Set(vtkDataObject::DATA_TYPE_NAME(), "vtkDataObject");
  return 1;
}

//------------------------------------------------------------------------------
std::string vtkAsyncFlowMap::ClassOfOutput(int port, vtkDataObject* input) {
  return this->Seeds == RESAMPLED_GRID ? "vtkImageData"
                                       : this->Superclass::ClassOfOutput(port, input);
}

//------------------------------------------------------------------------------
int vtkAsyncFlowMap::RequestInformation(vtkInformation* request, vtkInformationVector** inputVector,
                                        vtkInformationVector* outputVector) {
  if (this->Seeds == RESAMPLED_GRID) {
    vtkInformation* output = outputVector->GetInformationObject(0);
    int whole[6] = {0, 0, 0, 0, 0, 0};
    for (int a = 0; a < 3; ++a) {
      whole[2 * a + 1] = std::max(this->SamplingDimensions[a], 1) - 1;
    }
    output->Set(Pipeline::WHOLE_EXTENT(), whole, 6);
    output->Set(vtkAlgorithm::CAN_PRODUCE_SUB_EXTENT(), 1);
    // Those of the input. The ones of the grid are known when the data are.
    output->Remove(vtkDataObject::ORIGIN());
    output->Remove(vtkDataObject::SPACING());
    output->Remove(vtkDataObject::DIRECTION());
  }
  return this->Superclass::RequestInformation(request, inputVector, outputVector);
}

//------------------------------------------------------------------------------
int vtkAsyncFlowMap::RequestUpdateExtent(vtkInformation* request,
                                         vtkInformationVector** inputVector,
                                         vtkInformationVector* outputVector) {
  this->Superclass::RequestUpdateExtent(request, inputVector, outputVector);
  vtkInformation* input = inputVector[0]->GetInformationObject(0);
  if (this->Window == FROM_FIRST_TIME_STEP) {
    if (!this->IsUnderWay) {
      tributary::PathSteps::Basis basis;
      this->DescribeMap(basis.properties);
      basis.inputs = tributary::producersOf(*this);
      this->State->planToGrow(
          tributary::reportedTimes(input), tributary::requestedTime(request, outputVector),
          this->IntegrationTime, std::move(basis), tributary::modificationTimes(*this),
          this->IsWhole, extentOf(outputVector),
          this->Resume ? this->CheckpointDirectory : std::string());
    }
    const tributary::GrowingSteps& growing = this->State->growing;
    if (!growing.plan.steps().empty()) {
      input->Set(Pipeline::UPDATE_TIME_STEP(), growing.timeOfNext());
    }
    return 1;
  }
  if (!this->IsUnderWay) {
    tributary::FlowMapState::Source source{tributary::producersOf(*this),
                                           tributary::modificationTimes(*this)};
    tributary::PropertyList properties;
    this->DescribeMap(properties);
    this->State->planFor(tributary::reportedTimes(input),
                         tributary::requestedTime(request, outputVector), this->IntegrationTime,
                         std::move(source), std::move(properties));
  }
  const tributary::FlowMapPlan& plan = this->State->plan;
  if (!plan.steps().empty()) {
    input->Set(Pipeline::UPDATE_TIME_STEP(), plan.next());
  }
  return 1;
}

//------------------------------------------------------------------------------
void vtkAsyncFlowMap::CheckProperties() {
  this->Superclass::CheckProperties();
  using tributary::require;
  require(this->IntegrationTime != 0 && std::isfinite(this->IntegrationTime), "Integration Time",
          this->IntegrationTime, "set it to a time that is positive, or negative for backward");
  require(
      this->IntegrationTime > 0 || this->Window == FROM_CURRENT_TIME, "Integration Time",
      this->IntegrationTime,
      "set it to a positive time, because particles begin at the first time step, or set Window "
      "to From Current Time");
  require(this->SeedsPerBatch >= 1, "Seeds Per Batch", this->SeedsPerBatch,
          "set it to a number greater than 0");
  require(this->KeptTimeSteps >= 0, "Kept Time Steps", this->KeptTimeSteps,
          "set it to a positive number of time steps, or to 0 to keep none");
  require(this->CheckpointInterval >= 1, "Checkpoint Interval", this->CheckpointInterval,
          "set it to 1 or more");
  if (!this->State->growing.checkpoints.error().empty()) {
    throw tributary::Error(this->State->growing.checkpoints.error());
  }
  if (this->Seeds == POINTS_OF_INPUT) {
    require(this->AuxiliaryDistance >= 0 && std::isfinite(this->AuxiliaryDistance),
            "Auxiliary Distance", this->AuxiliaryDistance,
            "set it to a positive length, or to 0 to derive it from the size of the data");
    return;
  }
  double points = 1;
  for (const int number : this->SamplingDimensions) {
    require(number >= 1, "Sampling Dimensions", number,
            "set it to 1 or more points along each axis");
    points *= number;
  }
  require(points > 1, "Sampling Dimensions", "1 along all axes",
          "set it to 2 or more points along at least one axis");
  require(points <= MostPoints, "Sampling Dimensions", std::to_string(points) + " points",
          "set it to at most 1e15 points in total");
  for (int a = 0; a < 3 && !this->UseInputBounds; ++a) {
    const double lo = this->SamplingBounds[2 * a], hi = this->SamplingBounds[2 * a + 1];
    require(std::isfinite(lo) && std::isfinite(hi) && lo <= hi && std::isfinite(hi - lo),
            "Sampling Bounds", lo, "its maximum, ", hi,
            ", must not be less than its minimum, and both must be finite");
  }
}

//------------------------------------------------------------------------------
void vtkAsyncFlowMap::DescribeMap(tributary::PropertyList& list) {
  this->Superclass::DescribeProperties(list);
  list.add("Integration Time", this->IntegrationTime);
  list.add("Window", this->Window);
  list.add("Seeds", this->Seeds);
  list.addAll("Sampling Dimensions", this->SamplingDimensions);
  list.add("Use Input Bounds", this->UseInputBounds);
  list.addAll("Sampling Bounds", this->SamplingBounds);
  list.add("Auxiliary Distance", this->AuxiliaryDistance);
  list.add("Seeds Per Batch", this->SeedsPerBatch);
}

//------------------------------------------------------------------------------
void vtkAsyncFlowMap::DescribeProperties(tributary::PropertyList& list) {
  this->DescribeMap(list);
  list.add("Compute Tensor", this->ComputeTensor);
  list.add("Kept Time Steps", this->KeptTimeSteps);
  list.add("Lending Memory", this->LendingMemory);
  // Ranks must also be in the same step.
  const tributary::FlowMapPlan& plan = this->State->plan;
  list.addAll("the list of time steps", plan.steps());
  list.addAll("the list of time steps of the window", plan.path());
  list.add("the beginning of the window", plan.begin());
  list.add("the number of time steps to read", plan.reads());
  if (!plan.steps().empty()) {
    list.add("the next time step", plan.next());
  }
  const tributary::GrowingSteps& growing = this->State->growing;
  list.addAll("the list of time steps", growing.plan.steps());
  list.add("the requested time", growing.plan.outputTime());
  list.add("the next time step", growing.plan.next());
  list.addAll("the list of time steps traced", growing.plan.added());
  list.add("Checkpoint Directory", this->CheckpointDirectory);
  list.add("Checkpoint Interval", this->CheckpointInterval);
  list.add("Resume", this->Resume);
  list.add("the checkpoint to resume", growing.checkpoints.foundGeneration());
}

//------------------------------------------------------------------------------
tributary::FlowMapSettings vtkAsyncFlowMap::MakeSettings() {
  tributary::FlowMapSettings settings{this->MakeTraceSettings()};
  settings.grows = this->Window == FROM_FIRST_TIME_STEP;
  settings.duration = this->IntegrationTime;
  settings.onGrid = this->Seeds == RESAMPLED_GRID;
  settings.useInputBounds = this->UseInputBounds;
  std::copy_n(this->SamplingBounds, 6, settings.bounds.data());
  std::copy_n(this->SamplingDimensions, 3, settings.dimensions.data());
  settings.distance = this->AuxiliaryDistance;
  settings.seedsPerBatch = this->SeedsPerBatch;
  settings.keptSteps = static_cast<std::size_t>(this->KeptTimeSteps);
  settings.withTensor = this->ComputeTensor;
  settings.checkpoints = {this->CheckpointDirectory, this->CheckpointInterval};
  return settings;
}

//------------------------------------------------------------------------------
void vtkAsyncFlowMap::ForgetExecution() {
  this->State->forget();
}

//------------------------------------------------------------------------------
bool vtkAsyncFlowMap::Execute(tributary::Transport& transport, vtkInformationVector** inputVector,
                              vtkInformationVector* outputVector,
                              tributary::RunStatistics& statistics) {
  const tributary::RunContext context = this->MakeRunContext(transport, statistics);
  const tributary::FlowMapSettings settings = this->MakeSettings();
  const std::array<int, 6> extent = extentOf(outputVector);
  tributary::FlowMapRun run(context, settings, *this->State);
  const bool isWhole = run.execute(vtkDataObject::GetData(inputVector[0], 0), extent.data(),
                                   vtkDataObject::GetData(outputVector, 0));
  this->IsUnderWay = run.isUnderWay();
  this->State->growing.inputTimes = tributary::modificationTimes(*this);
  return isWhole;
}

//------------------------------------------------------------------------------
void vtkAsyncFlowMap::PrintSelf(ostream& os, vtkIndent indent) {
  this->Superclass::PrintSelf(os, indent);
  const int* n = this->SamplingDimensions;
  const double* b = this->SamplingBounds;
  os << indent << "IntegrationTime: " << this->IntegrationTime << "\n"
     << indent << "Window: " << this->Window << "\n"
     << indent << "Seeds: " << this->Seeds << "\n"
     << indent << "SamplingDimensions: " << n[0] << ", " << n[1] << ", " << n[2] << "\n"
     << indent << "UseInputBounds: " << this->UseInputBounds << "\n"
     << indent << "SamplingBounds: " << b[0] << ", " << b[1] << ", " << b[2] << ", " << b[3] << ", "
     << b[4] << ", " << b[5] << "\n"
     << indent << "AuxiliaryDistance: " << this->AuxiliaryDistance << "\n"
     << indent << "ComputeTensor: " << this->ComputeTensor << "\n"
     << indent << "SeedsPerBatch: " << this->SeedsPerBatch << "\n"
     << indent << "KeptTimeSteps: " << this->KeptTimeSteps << "\n"
     << indent << "CheckpointDirectory: " << this->CheckpointDirectory << "\n"
     << indent << "CheckpointInterval: " << this->CheckpointInterval << "\n"
     << indent << "Resume: " << this->Resume << "\n";
}
