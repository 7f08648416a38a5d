// SPDX-License-Identifier: BSD-3-Clause
#include "vtkAsyncPathTracer.h"

#include "Common/PropertyList.h"
#include "Common/Require.h"
#include "Common/RunContext.h"
#include "Paths/PathTracerRun.h"

#include <vtkDataObject.h>
#include <vtkDataSet.h>
#include <vtkDataSetAttributes.h>
#include <vtkDemandDrivenPipeline.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkObjectFactory.h>
#include <vtkPolyData.h>
#include <vtkStreamingDemandDrivenPipeline.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

vtkStandardNewMacro(vtkAsyncPathTracer);

namespace {
using Pipeline = vtkStreamingDemandDrivenPipeline;
}  // anonymous namespace

//------------------------------------------------------------------------------
vtkAsyncPathTracer::vtkAsyncPathTracer() : State(new tributary::PathTracerState) {
  this->SetNumberOfInputPorts(2);
  this->SetInputArrayToProcess(0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS_THEN_CELLS,
                               vtkDataSetAttributes::VECTORS);
}

//------------------------------------------------------------------------------
vtkAsyncPathTracer::~vtkAsyncPathTracer() = default;

//------------------------------------------------------------------------------
void vtkAsyncPathTracer::SetSourceConnection(vtkAlgorithmOutput* seeds) {
  this->SetInputConnection(1, seeds);
}

//------------------------------------------------------------------------------
vtkPolyData* vtkAsyncPathTracer::GetOutput() {
  return this->GetOutput(0);
}

//------------------------------------------------------------------------------
vtkPolyData* vtkAsyncPathTracer::GetOutput(int port) {
  return vtkPolyData::SafeDownCast(this->GetOutputDataObject(port));
}

//------------------------------------------------------------------------------
int vtkAsyncPathTracer::FillOutputPortInformation(int, vtkInformation* info) {
  info->Set(vtkDataObject::DATA_TYPE_NAME(), "vtkPolyData");
  return 1;
}

//------------------------------------------------------------------------------
std::vector<vtkMTimeType> vtkAsyncPathTracer::InputTimes() {
  std::vector<vtkMTimeType> times;
  for (int port = 0; port < this->GetNumberOfInputPorts(); ++port) {
    int producerPort = 0;
    vtkAlgorithm* producer = this->GetInputAlgorithm(port, 0, producerPort);
    vtkExecutive* executive = producer ? producer->GetExecutive() : nullptr;
    vtkMTimeType time = 0;
    if (executive) {
      vtkNew<vtkInformation> request;
      executive->ComputePipelineMTime(request, executive->GetInputInformation(),
                                      executive->GetOutputInformation(), producerPort, &time);
    }
    times.push_back(time);
  }
  return times;
}

//------------------------------------------------------------------------------
int vtkAsyncPathTracer::RequestUpdateExtent(vtkInformation* request,
                                            vtkInformationVector** inputVector,
                                            vtkInformationVector* outputVector) {
  // Particles are sent to the rank that owns the cell.
  for (int port = 0; port < this->GetNumberOfInputPorts(); ++port) {
    for (int i = 0; i < inputVector[port]->GetNumberOfInformationObjects(); ++i) {
      inputVector[port]->GetInformationObject(i)->Set(Pipeline::UPDATE_NUMBER_OF_GHOST_LEVELS(), 0);
    }
  }
  this->Superclass::RequestUpdateExtent(request, inputVector, outputVector);
  vtkInformation* input = inputVector[0]->GetInformationObject(0);
  if (!this->IsUnderWay) {
    const int port = std::max(request->Get(Pipeline::FROM_OUTPUT_PORT()), 0);
    vtkInformation* output = outputVector->GetInformationObject(port);
    const double* steps = input->Get(Pipeline::TIME_STEPS());
    const int count = input->Length(Pipeline::TIME_STEPS());
    const double time = output->Has(Pipeline::UPDATE_TIME_STEP())
                            ? output->Get(Pipeline::UPDATE_TIME_STEP())
                            : std::numeric_limits<double>::quiet_NaN();
    tributary::PathTracerState::Basis basis;
    this->DescribePaths(basis.properties);
    for (int p = 0; p < this->GetNumberOfInputPorts(); ++p) {
      int producerPort = 0;
      const vtkAlgorithm* producer = this->GetInputAlgorithm(p, 0, producerPort);
      basis.inputs.emplace_back(producer, producerPort);
    }
    this->State->planFor({steps, static_cast<std::size_t>(count)}, time, std::move(basis),
                         this->InputTimes(), this->IsWhole);
  }
  const tributary::PathPlan& plan = this->State->plan;
  if (!plan.steps().empty()) {
    input->Set(Pipeline::UPDATE_TIME_STEP(), plan.steps()[plan.next()]);
    vtkInformation* seeds = inputVector[1]->GetInformationObject(0);
    if (seeds) {
      const std::size_t step = this->StaticSeeds ? 0 : plan.next();
      seeds->Set(Pipeline::UPDATE_TIME_STEP(), plan.steps()[step]);
    }
  }
  return 1;
}

//------------------------------------------------------------------------------
void vtkAsyncPathTracer::AddPointArray(const char* name) {
  if (name && this->PointArrays.emplace(name).second) {
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkAsyncPathTracer::ClearPointArrays() {
  if (!this->PointArrays.empty()) {
    this->PointArrays.clear();
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkAsyncPathTracer::CheckProperties() {
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
  const double first = this->InitialIntegrationStep;
  require(first > 0 && std::isfinite(first), "Initial Step Length", first,
          "set it to a positive length");
  if (this->IntegratorType == RUNGE_KUTTA45) {
    const double shortest = this->MinimumIntegrationStep;
    const double longest = this->MaximumIntegrationStep;
    require(shortest >= 0 && std::isfinite(shortest), "Minimum Step Length", shortest,
            "set it to a positive length, or to 0 to use Initial Step Length");
    require(longest >= 0 && std::isfinite(longest), "Maximum Step Length", longest,
            "set it to a positive length, or to 0 to use Initial Step Length");
    require((shortest > 0 ? shortest : first) <= (longest > 0 ? longest : first),
            "Minimum Step Length", shortest, "it must not be above Maximum Step Length");
    require(this->MaximumError > 0 && std::isfinite(this->MaximumError), "Maximum Error",
            this->MaximumError, "set it to a positive length");
  }
  require(this->MaximumNumberOfSteps >= 0 &&
              this->MaximumNumberOfSteps <= std::numeric_limits<std::int32_t>::max() - 2,
          "Maximum Steps", this->MaximumNumberOfSteps, "set it to a number in [0, 2147483645]");
  require(this->TerminalSpeed >= 0, "Terminal Speed", this->TerminalSpeed,
          "set it to a positive speed, or to 0 to follow particles at rest");
  require(std::isfinite(this->RotationScale), "Rotation Scale", this->RotationScale,
          "set it to a finite number");
  require(this->BlocksPerRank >= 1 && this->BlocksPerRank <= 1000000, "Blocks Per Rank",
          this->BlocksPerRank, "set it to a number in [1, 1000000]");
  require(this->LendingMemory >= 0 && this->LendingMemory <= 1000000, "Lending Memory",
          this->LendingMemory, "set it to a number of mebibytes in [0, 1000000]");
}

//------------------------------------------------------------------------------
void vtkAsyncPathTracer::DescribePaths(tributary::PropertyList& list) {
  this->DescribeArray(list, "Vectors", 0);
  list.add("whether Output Kind is Pathlines", this->OutputKind == PATHLINES);
  list.add("Static Seeds", this->StaticSeeds);
  list.add("Force Reinjection Every N Steps", this->ForceReinjectionEveryNSteps);
  list.add("Injection Start Time", this->InjectionStartTime);
  list.add("Injection End Time", this->InjectionEndTime);
  list.add("Termination Time", this->TerminationTime);
  list.add("Integrator Type", this->IntegratorType);
  list.add("Integration Step Unit", this->IntegrationStepUnit);
  list.add("Initial Step Length", this->InitialIntegrationStep);
  list.add("Minimum Step Length", this->MinimumIntegrationStep);
  list.add("Maximum Step Length", this->MaximumIntegrationStep);
  list.add("Maximum Error", this->MaximumError);
  list.add("Maximum Steps", this->MaximumNumberOfSteps);
  list.add("Terminal Speed", this->TerminalSpeed);
  list.add("Compute Vorticity", this->ComputeVorticity);
  list.add("Rotation Scale", this->RotationScale);
  list.addAll("Point Arrays", this->PointArrays);
}

//------------------------------------------------------------------------------
void vtkAsyncPathTracer::DescribeProperties(tributary::PropertyList& list) {
  this->DescribePaths(list);
  list.add("Output Kind", this->OutputKind);
  list.add("Lending Memory", this->LendingMemory);
  // Ranks must also be in the same step.
  const tributary::PathPlan& plan = this->State->plan;
  list.addAll("the list of time steps", plan.steps());
  list.add("the requested time", plan.outputTime());
  list.add("the requested time step", plan.goal());
  list.add("the next time step", plan.next());
  list.addAll("the list of time steps traced", plan.added());
}

//------------------------------------------------------------------------------
tributary::PathTracerSettings vtkAsyncPathTracer::MakeSettings() {
  tributary::PathTracerSettings settings;
  settings.vectorsOf = [this](vtkDataSet* dataSet, int& association) {
    return this->GetInputArrayToProcess(0, dataSet, association);
  };
  tributary::StepRules& rules = settings.rules;
  constexpr tributary::Integrator Integrators[] = {tributary::Integrator::RungeKutta2,
                                                   tributary::Integrator::RungeKutta4,
                                                   tributary::Integrator::RungeKutta45};
  rules.integrator = Integrators[this->IntegratorType];
  rules.unit = this->IntegrationStepUnit == LENGTH_UNIT ? tributary::StepUnit::Length
                                                        : tributary::StepUnit::CellLength;
  rules.initialStep = this->InitialIntegrationStep;
  rules.minimumStep = this->MinimumIntegrationStep;
  rules.maximumStep = this->MaximumIntegrationStep;
  rules.maximumError = this->MaximumError;
  rules.maximumSteps = this->MaximumNumberOfSteps;
  rules.terminalSpeed = this->TerminalSpeed;
  constexpr tributary::PathKind Kinds[] = {tributary::PathKind::Pathlines,
                                           tributary::PathKind::Streaklines,
                                           tributary::PathKind::Particles};
  settings.kind = Kinds[this->OutputKind];
  settings.staticSeeds = this->StaticSeeds;
  settings.reinjection = this->ForceReinjectionEveryNSteps;
  settings.injectionStart = this->InjectionStartTime;
  settings.injectionEnd = this->InjectionEndTime;
  settings.terminationTime =
      this->TerminationTime != 0 ? this->TerminationTime : std::numeric_limits<double>::infinity();
  settings.computeVorticity = this->ComputeVorticity;
  settings.rotationScale = this->RotationScale;
  settings.pointArrays = this->PointArrays;
  settings.blocksPerRank = this->BlocksPerRank;
  settings.lendingMemory = static_cast<std::size_t>(this->LendingMemory) << 20;
  settings.keepDomain = this->KeepDomain && !this->GetReleaseDataFlag();
  settings.exchange = this->MakeExchangeOptions();
  settings.autoTune = this->AutoTune;
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
                  vtkDataObject::GetData(inputVector[1], 0), vtkPolyData::GetData(outputVector));
  this->IsUnderWay = run.isUnderWay();
  this->State->inputTimes = this->InputTimes();
  return isWhole;
}

//------------------------------------------------------------------------------
void vtkAsyncPathTracer::PrintSelf(ostream& os, vtkIndent indent) {
  this->Superclass::PrintSelf(os, indent);
  os << indent << "OutputKind: " << this->OutputKind << "\n"
     << indent << "StaticSeeds: " << this->StaticSeeds << "\n"
     << indent << "ForceReinjectionEveryNSteps: " << this->ForceReinjectionEveryNSteps << "\n"
     << indent << "InjectionStartTime: " << this->InjectionStartTime << "\n"
     << indent << "InjectionEndTime: " << this->InjectionEndTime << "\n"
     << indent << "TerminationTime: " << this->TerminationTime << "\n"
     << indent << "IntegratorType: " << this->IntegratorType << "\n"
     << indent << "IntegrationStepUnit: " << this->IntegrationStepUnit << "\n"
     << indent << "InitialIntegrationStep: " << this->InitialIntegrationStep << "\n"
     << indent << "MinimumIntegrationStep: " << this->MinimumIntegrationStep << "\n"
     << indent << "MaximumIntegrationStep: " << this->MaximumIntegrationStep << "\n"
     << indent << "MaximumError: " << this->MaximumError << "\n"
     << indent << "MaximumNumberOfSteps: " << this->MaximumNumberOfSteps << "\n"
     << indent << "TerminalSpeed: " << this->TerminalSpeed << "\n"
     << indent << "ComputeVorticity: " << this->ComputeVorticity << "\n"
     << indent << "RotationScale: " << this->RotationScale << "\n"
     << indent << "PointArrays:";
  for (const std::string& name : this->PointArrays) {
    os << " \"" << name << "\"";
  }
  os << "\n"
     << indent << "BlocksPerRank: " << this->BlocksPerRank << "\n"
     << indent << "KeepDomain: " << this->KeepDomain << "\n"
     << indent << "LendingMemory: " << this->LendingMemory << "\n";
}
