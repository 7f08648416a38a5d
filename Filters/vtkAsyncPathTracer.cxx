// SPDX-License-Identifier: BSD-3-Clause
#include "vtkAsyncPathTracer.h"

#include "Common/PropertyList.h"
#include "Common/Require.h"
#include "Common/RunContext.h"
#include "Paths/PathTracerRun.h"
#include "Time/DataTime.h"

#include <vtkDataObject.h>
#include <vtkDemandDrivenPipeline.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkObjectFactory.h>
#include <vtkPolyData.h>
#include <vtkStreamingDemandDrivenPipeline.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

vtkStandardNewMacro(vtkAsyncPathTracer);

namespace {
using Pipeline = vtkStreamingDemandDrivenPipeline;
}  // anonymous namespace

//------------------------------------------------------------------------------
vtkAsyncPathTracer::vtkAsyncPathTracer()
    : vtkAsyncLineAlgorithm(0.0), State(new tributary::PathTracerState) {}

//------------------------------------------------------------------------------
vtkAsyncPathTracer::~vtkAsyncPathTracer() = default;

//------------------------------------------------------------------------------
int vtkAsyncPathTracer::RequestUpdateExtent(vtkInformation* request,
                                            vtkInformationVector** inputVector,
                                            vtkInformationVector* outputVector) {
  this->Superclass::RequestUpdateExtent(request, inputVector, outputVector);
  vtkInformation* input = inputVector[0]->GetInformationObject(0);
  if (!this->IsUnderWay) {
    tributary::PathTracerState::Basis basis;
    this->DescribePaths(basis.properties);
    basis.inputs = tributary::producersOf(*this);
    this->State->planFor(tributary::reportedTimes(input),
                         tributary::requestedTime(request, outputVector), std::move(basis),
                         tributary::modificationTimes(*this), this->IsWhole);
    this->State->planToResume(this->Resume ? this->CheckpointDirectory : std::string());
  }
  const tributary::PathPlan& plan = this->State->plan;
  if (!plan.steps().empty()) {
    input->Set(Pipeline::UPDATE_TIME_STEP(), plan.steps()[plan.next()]);
    vtkInformation* seeds = inputVector[1]->GetInformationObject(0);
    if (seeds) {
      const std::size_t step = this->StaticSeeds ? 0 : plan.next();
      seeds->Set(Pipeline::UPDATE_TIME_STEP(), plan.steps()[step]);
    }
    if (this->HasSurface()) {
      // One surface for all steps, so that paths do not depend on the times requested before.
      inputVector[SURFACES]->GetInformationObject(0)->Set(Pipeline::UPDATE_TIME_STEP(),
                                                          plan.steps().front());
    }
  }
  return 1;
}

//------------------------------------------------------------------------------
void vtkAsyncPathTracer::CheckProperties() {
  this->Superclass::CheckProperties();
  using tributary::require;
  require(this->ForceReinjectionEveryNSteps >= 0, "Force Reinjection Every N Steps",
          this->ForceReinjectionEveryNSteps,
          "set it to a positive number of steps, or to 0 to inject particles once");
  require(!std::isnan(this->InjectionStartTime), "Injection Start Time", this->InjectionStartTime,
          "set it to a time");
  require(this->InjectionStartTime <= this->InjectionEndTime, "Injection End Time",
          this->InjectionEndTime, "set it to a time that is not before Injection Start Time");
  require(!std::isnan(this->TerminationTime), "Termination Time", this->TerminationTime,
          "set it to a time, or to 0 for no limit");
  require(this->CheckpointInterval >= 1, "Checkpoint Interval", this->CheckpointInterval,
          "set it to 1 or more");
  if (!this->State->checkpoints.error().empty()) {
    throw tributary::Error(this->State->checkpoints.error());
  }
}

//------------------------------------------------------------------------------
bool vtkAsyncPathTracer::KeepsSteps() const {
  return this->OutputKind == PATHLINES && this->PathPoints == INTEGRATION_STEPS;
}

//------------------------------------------------------------------------------
void vtkAsyncPathTracer::DescribePaths(tributary::PropertyList& list) {
  this->Superclass::DescribeProperties(list);
  list.add("whether pathlines have the points of all steps", this->KeepsSteps());
  list.add("Static Seeds", this->StaticSeeds);
  list.add("Force Reinjection Every N Steps", this->ForceReinjectionEveryNSteps);
  list.add("Injection Start Time", this->InjectionStartTime);
  list.add("Injection End Time", this->InjectionEndTime);
  list.add("Termination Time", this->TerminationTime);
}

//------------------------------------------------------------------------------
void vtkAsyncPathTracer::DescribeProperties(tributary::PropertyList& list) {
  this->DescribePaths(list);
  list.add("Output Kind", this->OutputKind);
  list.add("Path Points", this->PathPoints);
  list.add("Lending Memory", this->LendingMemory);
  // Ranks must also be in the same step.
  const tributary::PathPlan& plan = this->State->plan;
  list.addAll("the list of time steps", plan.steps());
  list.add("the requested time", plan.outputTime());
  list.add("the requested time step", plan.goal());
  list.add("the next time step", plan.next());
  list.addAll("the list of time steps traced", plan.added());
  list.add("Checkpoint Directory", this->CheckpointDirectory);
  list.add("Checkpoint Interval", this->CheckpointInterval);
  list.add("Resume", this->Resume);
  list.add("the checkpoint to resume", this->State->checkpoints.foundGeneration());
}

//------------------------------------------------------------------------------
tributary::PathTracerSettings vtkAsyncPathTracer::MakeSettings() {
  tributary::PathTracerSettings settings{this->MakeLineSettings()};
  constexpr tributary::PathKind Kinds[] = {tributary::PathKind::Pathlines,
                                           tributary::PathKind::Streaklines,
                                           tributary::PathKind::Particles};
  settings.kind = Kinds[this->OutputKind];
  settings.keepsSteps = this->KeepsSteps();
  settings.staticSeeds = this->StaticSeeds;
  settings.reinjection = this->ForceReinjectionEveryNSteps;
  settings.injectionStart = this->InjectionStartTime;
  settings.injectionEnd = this->InjectionEndTime;
  settings.terminationTime =
      this->TerminationTime != 0 ? this->TerminationTime : std::numeric_limits<double>::infinity();
  settings.checkpoints = {this->CheckpointDirectory, this->CheckpointInterval};
  return settings;
}

//------------------------------------------------------------------------------
void vtkAsyncPathTracer::ForgetExecution() {
  this->State->forget();
}

//------------------------------------------------------------------------------
bool vtkAsyncPathTracer::Execute(tributary::Transport& transport,
                                 vtkInformationVector** inputVector,
                                 vtkInformationVector* outputVector,
                                 tributary::RunStatistics& statistics) {
  const tributary::RunContext context = this->MakeRunContext(transport, statistics);
  const tributary::PathTracerSettings settings = this->MakeSettings();
  tributary::PathTracerRun run(context, settings, *this->State);
  const bool isWhole =
      run.execute(vtkDataObject::GetData(inputVector[0], 0),
                  vtkDataObject::GetData(inputVector[1], 0), this->FindSurface(inputVector),
                  vtkPolyData::GetData(outputVector, 0), vtkPolyData::GetData(outputVector, 1));
  this->IsUnderWay = run.isUnderWay();
  this->State->inputTimes = tributary::modificationTimes(*this);
  return isWhole;
}

//------------------------------------------------------------------------------
void vtkAsyncPathTracer::PrintSelf(ostream& os, vtkIndent indent) {
  this->Superclass::PrintSelf(os, indent);
  os << indent << "OutputKind: " << this->OutputKind << "\n"
     << indent << "PathPoints: " << this->PathPoints << "\n"
     << indent << "StaticSeeds: " << this->StaticSeeds << "\n"
     << indent << "ForceReinjectionEveryNSteps: " << this->ForceReinjectionEveryNSteps << "\n"
     << indent << "InjectionStartTime: " << this->InjectionStartTime << "\n"
     << indent << "InjectionEndTime: " << this->InjectionEndTime << "\n"
     << indent << "TerminationTime: " << this->TerminationTime << "\n"
     << indent << "CheckpointDirectory: " << this->CheckpointDirectory << "\n"
     << indent << "CheckpointInterval: " << this->CheckpointInterval << "\n"
     << indent << "Resume: " << this->Resume << "\n";
}
