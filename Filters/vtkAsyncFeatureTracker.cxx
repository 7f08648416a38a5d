// SPDX-License-Identifier: BSD-3-Clause
#include "vtkAsyncFeatureTracker.h"

#include "Common/PropertyList.h"
#include "Common/Require.h"
#include "Common/RunStatistics.h"
#include "Features/Checkpoint.h"
#include "Features/CriticalTracking.h"
#include "Features/RegionTracking.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

#include <vtkDataObject.h>
#include <vtkDataSetAttributes.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkObjectFactory.h>
#include <vtkStreamingDemandDrivenPipeline.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

vtkStandardNewMacro(vtkAsyncFeatureTracker);

namespace {
using Pipeline = vtkStreamingDemandDrivenPipeline;
using tributary::require;
}  // anonymous namespace

//------------------------------------------------------------------------------
/// What is kept between executions, and what the next one is for.
class vtkAsyncFeatureTracker::vtkState {
 public:
  /// What all steps have to have in common.
  struct Basis {
    tributary::PropertyList Properties;
    const vtkAlgorithm* Input = nullptr;
    int InputPort = 0;

    bool operator==(const Basis& other) const {
      return this->Properties == other.Properties && this->Input == other.Input &&
             this->InputPort == other.InputPort;
    }
  };

  /// Local. What to ask the input for so that the outputs become those of a time.
  /// @param time     NaN if none was asked for
  /// @param isWhole  whether what is kept is that of whole executions
  void Plan(const double* steps, int count, double time, Basis basis, bool isWhole);

  std::unique_ptr<vtkTracking> Tracking;  ///< Of the steps so far.
  double Time = 0;                        ///< Of the last one.
  Basis Begun;                            ///< That of the steps so far,
  Basis Asked;                            ///< and of the next one.
  std::vector<double> Seen;               ///< Steps of the input that have been asked for.
  std::vector<double> Steps;              ///< All that the input tells.
  std::size_t Next = 0;                   ///< Which of them is to be executed, if there are any,
  std::size_t Goal = 0;                   ///< and up to which.
  bool IsAnew = true;                     ///< Begin with the first step.

  bool HasBegun = false;       ///< A first step was executed, or a checkpoint resumed.
  std::int64_t Count = 0;      ///< Steps that were executed since.
  std::string ErrorCollector;  ///< Why the checkpoint that there is cannot be resumed.
  std::optional<tributary::CheckpointIndex> Resumed;  ///< To be gone on from.
};

//------------------------------------------------------------------------------
void vtkAsyncFeatureTracker::vtkState::Plan(const double* steps, int count, double time,
                                            Basis basis, bool isWhole) {
  const std::size_t before = this->Steps.size();
  // Catalyst's producer tells the first one twice.
  this->Steps.clear();
  for (int i = 0; i < count; ++i) {
    if (this->Steps.empty() || steps[i] > this->Steps.back()) {
      this->Steps.push_back(steps[i]);
    }
  }
  this->Goal = 0;
  while (this->Goal + 1 < this->Steps.size() && this->Steps[this->Goal + 1] <= time) {
    ++this->Goal;
  }
  // In situ, where nobody asks for a time, a new step is meant.
  if (std::isnan(time) && before > 0 && this->Steps.size() > before) {
    this->Goal = this->Steps.size() - 1;
  }
  const std::size_t seen = this->Seen.size();
  const bool goesOn = seen <= this->Steps.size() &&
                      std::equal(this->Seen.begin(), this->Seen.end(), this->Steps.begin());
  this->IsAnew = !isWhole || !(basis == this->Begun) || !goesOn || (count > 0 && this->Goal < seen);
  this->Next = this->IsAnew ? 0 : seen;
  this->Asked = std::move(basis);
}

//------------------------------------------------------------------------------
/// @param isOfAnother  whether the input is not at the time that it was asked for
double vtkAsyncFeatureTracker::TimeOf(tributary::Transport& transport, vtkDataObject* input,
                                      bool& isOfAnother) {
  // Ranks without data may not know their time.
  constexpr double none = -std::numeric_limits<double>::infinity();
  vtkInformation* info = input->GetInformation();
  const double known = tributary::allreduce(transport, tributary::ReduceOp::Max,
                                            info->Has(vtkDataObject::DATA_TIME_STEP())
                                                ? info->Get(vtkDataObject::DATA_TIME_STEP())
                                                : none);
  if (!this->State->Steps.empty()) {
    const double asked = this->State->Steps[this->State->Next];
    isOfAnother = known != none && known != asked && this->State->Next < this->State->Goal;
    return asked;
  }
  isOfAnother = false;
  return known == none ? 0 : known;
}

//------------------------------------------------------------------------------
void vtkAsyncFeatureTracker::PlanResumption() {
  vtkState& state = *this->State;
  state.ErrorCollector.clear();
  state.Resumed.reset();
  if (!state.IsAnew || state.HasBegun || !this->Resume || this->CheckpointDirectory.empty()) {
    return;
  }
  const auto refuse = [&](const char* why) {
    throw tributary::Error("the checkpoint in \"" + this->CheckpointDirectory + "\" is of other " +
                           why + "; set them as they were, or switch Resume off");
  };
  try {
    auto index = tributary::Checkpoint(this->CheckpointDirectory).find();
    if (!index) {
      return;
    }
    if (index->basis != state.Asked.Properties.packed()) {
      refuse("properties");
    }
    const std::vector<double>& seen = index->steps;
    if (seen.empty() != state.Steps.empty() || seen.size() > state.Steps.size() ||
        !std::equal(seen.begin(), seen.end(), state.Steps.begin())) {
      refuse("time steps");
    }
    if (state.Goal + 1 < seen.size()) {
      return;  // what is asked for was before
    }
    state.Next = std::min(seen.size(), state.Goal);  // the last one again if there is no later one
    state.Resumed = std::move(index);
  } catch (const tributary::Error& error) {
    state.ErrorCollector = error.what();
  }
}

//------------------------------------------------------------------------------
void vtkAsyncFeatureTracker::Begin(tributary::Transport& transport, double time) {
  vtkState& state = *this->State;
  const bool isAnew = state.IsAnew || (state.Steps.empty() && time < state.Time);
  bool isAgain = !isAnew && state.Steps.empty() && time == state.Time;
  if (isAnew) {
    state.Tracking = this->Features == CRITICAL_POINTS
                         ? std::unique_ptr<vtkTracking>(std::make_unique<vtkCriticalPoints>(this))
                         : std::make_unique<vtkRegions>(this);
    state.Seen.clear();
    state.Begun = state.Asked;
    if (state.Resumed && (!state.Steps.empty() || time >= state.Resumed->time)) {
      const tributary::Checkpoint checkpoint(this->CheckpointDirectory);
      state.Tracking->Load(transport, checkpoint.read(transport, *state.Resumed));
      state.Seen = state.Resumed->steps;
      state.Time = state.Resumed->time;
      isAgain = state.Steps.empty() ? time == state.Time : state.Next < state.Seen.size();
      state.Seen.resize(state.Next);
    }
    state.Resumed.reset();
    state.IsAnew = false;
    state.HasBegun = true;
    state.Count = 0;
  }
  if (isAgain) {
    state.Tracking->TakeBack();
  }
}

//------------------------------------------------------------------------------
void vtkAsyncFeatureTracker::WriteCheckpoint(tributary::Transport& transport,
                                             tributary::RunStatistics& statistics) {
  vtkState& state = *this->State;
  if (this->CheckpointDirectory.empty() || ++state.Count % this->CheckpointInterval != 0) {
    return;
  }
  tributary::CheckpointIndex index;
  tributary::Bytes part;
  tributary::collectively(transport, [&] {
    index.basis = state.Begun.Properties.packed();
    index.steps = state.Seen;
    index.time = state.Time;
    part = state.Tracking->Save();
  });
  tributary::Checkpoint(this->CheckpointDirectory).write(transport, std::move(index), part);
  statistics.phase("CheckpointSeconds");
}

//------------------------------------------------------------------------------
bool vtkAsyncFeatureTracker::ExecuteStep(tributary::Transport& transport, vtkDataObject* input,
                                         vtkInformationVector* outputVector,
                                         tributary::RunStatistics& statistics) {
  vtkState& state = *this->State;
  bool isOfAnother = false;
  const double time = this->TimeOf(transport, input, isOfAnother);
  this->Begin(transport, time);
  if (!isOfAnother) {
    if (!state.Tracking->TakeUp(transport, input, time, statistics)) {
      return false;
    }
    state.Time = time;
  }
  if (!state.Steps.empty()) {
    state.Seen.push_back(state.Steps[state.Next]);
    this->IsUnderWay = state.Next++ < state.Goal;
  }
  if (!isOfAnother) {
    this->WriteCheckpoint(transport, statistics);
  }
  if (this->IsUnderWay) {
    return true;
  }
  if (!state.Tracking->Write(transport, input, outputVector, statistics)) {
    return false;
  }
  for (int port = 0; port < vtkTracking::PORT_COUNT; ++port) {
    vtkDataObject::GetData(outputVector, port)
        ->GetInformation()
        ->Set(vtkDataObject::DATA_TIME_STEP(), time);
  }
  return true;
}

//------------------------------------------------------------------------------
vtkAsyncFeatureTracker::vtkAsyncFeatureTracker() : State(std::make_unique<vtkState>()) {
  this->SetNumberOfOutputPorts(vtkTracking::PORT_COUNT);
  this->SetInputArrayToProcess(2, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS_THEN_CELLS,
                               vtkDataSetAttributes::VECTORS);
  this->SetInputArrayToProcess(3, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS,
                               vtkDataSetAttributes::SCALARS);
}

//------------------------------------------------------------------------------
vtkAsyncFeatureTracker::~vtkAsyncFeatureTracker() = default;

//------------------------------------------------------------------------------
void vtkAsyncFeatureTracker::SetCheckpointDirectory(const char* path) {
  const std::string directory = path ? path : "";
  if (this->CheckpointDirectory != directory) {
    this->CheckpointDirectory = directory;
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkAsyncFeatureTracker::CheckProperties() {
  this->Superclass::CheckProperties();
  require(!this->ScalarConnectivity || this->GetNumberOfScalarRanges() == 1, "ScalarRange",
          "several ranges", "set it to one");
  require(this->MinimumOverlap >= 0 && this->MinimumOverlap <= 1, "MinimumOverlap",
          this->MinimumOverlap, "set it to a fraction from 0 to 1");
  require(this->MinimumSecondaryOverlap >= 0 && this->MinimumSecondaryOverlap <= 1,
          "MinimumSecondaryOverlap", this->MinimumSecondaryOverlap,
          "set it to a fraction from 0 to 1");
  require(this->CenterTolerance >= 0 && this->CenterTolerance <= 1, "CenterTolerance",
          this->CenterTolerance, "set it to a share from 0 to 1");
  require(this->CheckpointInterval >= 1, "CheckpointInterval", this->CheckpointInterval,
          "set it to 1 or more");
  if (!this->State->ErrorCollector.empty()) {
    throw tributary::Error(this->State->ErrorCollector);
  }
}

//------------------------------------------------------------------------------
void vtkAsyncFeatureTracker::DescribeTracking(tributary::PropertyList& list) {
  list.add("Features", this->Features);
  if (this->Features == CRITICAL_POINTS) {
    list.add("CenterTolerance", this->CenterTolerance);
    this->DescribeArray(list, "SelectCriticalField", 3);
    list.add("Method", this->Method);
    return;
  }
  this->Superclass::DescribeProperties(list);
  list.add("Match", this->Match);
  list.add("OverlapFraction", this->OverlapFraction);
  list.add("MinimumOverlap", this->MinimumOverlap);
  list.add("MinimumSecondaryOverlap", this->MinimumSecondaryOverlap);
  list.add("Motion", this->Motion);
  if (this->Motion == VELOCITY_FIELD) {
    this->DescribeArray(list, "SelectVelocity", 2);
  }
}

//------------------------------------------------------------------------------
void vtkAsyncFeatureTracker::DescribeProperties(tributary::PropertyList& list) {
  this->DescribeTracking(list);
  if (this->Features != CRITICAL_POINTS) {
    list.add("CenterTolerance", this->CenterTolerance);
    this->DescribeArray(list, "SelectCriticalField", 3);
  }
  list.add("Resume", this->Resume);
  // Nor may ranks be in different steps.
  list.addAll("the list of time steps", this->State->Steps);
  list.add("the time step asked for", this->State->Goal);
  list.add("the next time step", this->State->Next);
  list.add("whether to begin anew", this->State->IsAnew);
  list.add("the time of the last step", this->State->Time);
  list.add("CheckpointDirectory", this->CheckpointDirectory);
  list.add("CheckpointInterval", this->CheckpointInterval);
  list.add("the checkpoint to resume",
           this->State->Resumed ? this->State->Resumed->generation : std::int64_t(-1));
}

//------------------------------------------------------------------------------
int vtkAsyncFeatureTracker::FillOutputPortInformation(int port, vtkInformation* info) {
  info->Set(vtkDataObject::DATA_TYPE_NAME(), port == vtkTracking::MESH_PORT ? "vtkDataObject"
                                             : port == vtkTracking::TRAJECTORIES_PORT
                                                 ? "vtkPolyData"
                                                 : "vtkTable");
  return 1;
}

//------------------------------------------------------------------------------
int vtkAsyncFeatureTracker::RequestUpdateExtent(vtkInformation* request,
                                                vtkInformationVector** inputVector,
                                                vtkInformationVector* outputVector) {
  this->Superclass::RequestUpdateExtent(request, inputVector, outputVector);
  vtkInformation* input = inputVector[0]->GetInformationObject(0);
  if (!this->IsUnderWay) {
    const int port = std::max(request->Get(Pipeline::FROM_OUTPUT_PORT()), 0);
    vtkInformation* output = outputVector->GetInformationObject(port);
    vtkState::Basis basis;
    this->DescribeTracking(basis.Properties);
    basis.Input = this->GetInputAlgorithm(0, 0, basis.InputPort);
    this->State->Plan(input->Get(Pipeline::TIME_STEPS()), input->Length(Pipeline::TIME_STEPS()),
                      output->Has(Pipeline::UPDATE_TIME_STEP())
                          ? output->Get(Pipeline::UPDATE_TIME_STEP())
                          : std::numeric_limits<double>::quiet_NaN(),
                      std::move(basis), this->IsWhole);
    this->PlanResumption();
  }
  if (!this->State->Steps.empty()) {
    input->Set(Pipeline::UPDATE_TIME_STEP(), this->State->Steps[this->State->Next]);
  }
  return 1;
}

//------------------------------------------------------------------------------
bool vtkAsyncFeatureTracker::Execute(tributary::Transport& transport,
                                     vtkInformationVector** inputVector,
                                     vtkInformationVector* outputVector,
                                     tributary::RunStatistics& statistics) {
  const bool isWhole = this->ExecuteStep(transport, vtkDataObject::GetData(inputVector[0], 0),
                                         outputVector, statistics);
  if (isWhole) {
    this->State->Tracking->Release();
  }
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
