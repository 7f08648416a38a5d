// SPDX-License-Identifier: BSD-3-Clause
#include "vtkAsyncConvectionDiffusion.h"

#include "Common/PropertyList.h"
#include "Common/Require.h"
#include "Common/RunContext.h"
#include "Grids/ConvectionDiffusionRun.h"
#include "Grids/TimeSteps.h"
#include "Velocity/VelocityForm.h"

#include <vtkDataArray.h>
#include <vtkDataObject.h>
#include <vtkDataSet.h>
#include <vtkDataSetAttributes.h>
#include <vtkDemandDrivenPipeline.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkObjectFactory.h>
#include <vtkStreamingDemandDrivenPipeline.h>
#include <vtkTable.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

vtkStandardNewMacro(vtkAsyncConvectionDiffusion);

namespace {
using Pipeline = vtkStreamingDemandDrivenPipeline;
using tributary::LeastStep;
using tributary::MostSteps;
using tributary::require;
using tributary::Sides;

/// The arrays that SetInputArrayToProcess() chooses.
enum Arrays { VELOCITY, SOURCE, INITIAL, COMPONENT };

const char* const SideNames[Sides] = {"X Min", "X Max", "Y Min", "Y Max", "Z Min", "Z Max"};

/// The time steps of an input; none if it is not connected.
std::vector<double> timeStepsOf(vtkInformationVector* input) {
  vtkInformation* info = input->GetInformationObject(0);
  if (!info || !info->Has(Pipeline::TIME_STEPS())) {
    return {};
  }
  const double* times = info->Get(Pipeline::TIME_STEPS());
  return {times, times + info->Length(Pipeline::TIME_STEPS())};
}
}  // anonymous namespace

//------------------------------------------------------------------------------
vtkAsyncConvectionDiffusion::vtkAsyncConvectionDiffusion()
    : vtkAsyncSolverAlgorithm(10000000, 2),
      State(std::make_unique<tributary::ConvectionDiffusionState>()) {
  this->SetNumberOfInputPorts(2);
  this->SetNumberOfOutputPorts(2);
  constexpr int Either = vtkDataObject::FIELD_ASSOCIATION_POINTS_THEN_CELLS;
  this->SetInputArrayToProcess(VELOCITY, 0, 0, Either, vtkDataSetAttributes::VECTORS);
  this->SetInputArrayToProcess(SOURCE, 0, 0, Either, vtkDataSetAttributes::SCALARS);
  this->SetInputArrayToProcess(INITIAL, 0, 0, Either, vtkDataSetAttributes::SCALARS);
}

//------------------------------------------------------------------------------
vtkAsyncConvectionDiffusion::~vtkAsyncConvectionDiffusion() = default;

//------------------------------------------------------------------------------
void vtkAsyncConvectionDiffusion::SetSourceConnection(vtkAlgorithmOutput* source) {
  this->SetInputConnection(1, source);
}

//------------------------------------------------------------------------------
void vtkAsyncConvectionDiffusion::SetSideCondition(int side, int condition) {
  condition = std::clamp<int>(condition, OUTFLOW, PERIODIC);
  if (side >= 0 && side < Sides && this->SideConditions[side] != condition) {
    this->SideConditions[side] = condition;
    this->Modified();
  }
}

//------------------------------------------------------------------------------
int vtkAsyncConvectionDiffusion::GetSideCondition(int side) const {
  return side >= 0 && side < Sides ? this->SideConditions[side] : static_cast<int>(OUTFLOW);
}

//------------------------------------------------------------------------------
void vtkAsyncConvectionDiffusion::SetSideValue(int side, double value) {
  if (side >= 0 && side < Sides && !(this->SideValues[side] == value)) {
    this->SideValues[side] = value;
    this->Modified();
  }
}

//------------------------------------------------------------------------------
double vtkAsyncConvectionDiffusion::GetSideValue(int side) const {
  return side >= 0 && side < Sides ? this->SideValues[side] : 0;
}

//------------------------------------------------------------------------------
void vtkAsyncConvectionDiffusion::CheckProperties() {
  this->MakeVelocityForm().check();
  const auto isFinite = [](double x) { return std::isfinite(x); };
  require(this->Diffusivity >= 0 && isFinite(this->Diffusivity), "Diffusivity", this->Diffusivity,
          "set it to 0 or more");
  require(this->Decay >= 0 && isFinite(this->Decay), "Decay", this->Decay, "set it to 0 or more");
  for (int side = 0; side < Sides; ++side) {
    const std::string name = SideNames[side];
    require(isFinite(this->SideValues[side]), (name + " Value").c_str(), this->SideValues[side],
            "set it to a finite number");
    const bool isPeriodic = this->SideConditions[side] == PERIODIC;
    require(!isPeriodic || this->SideConditions[side ^ 1] == PERIODIC,
            (name + " Condition").c_str(), "periodic", "set the opposite side to periodic, too");
  }
  require(isFinite(this->SourceRate), "Source Rate", this->SourceRate, "set it to a finite number");
  if (this->SourceType == SOURCE_SPHERE) {
    for (const double x : this->SourceCenter) {
      require(isFinite(x), "Source Center", x, "set it to finite coordinates");
    }
    require(this->SourceRadius > 0 && isFinite(this->SourceRadius), "Source Radius",
            this->SourceRadius, "set it to a positive length");
  }
  if (this->SourceType == SOURCE_BOX) {
    for (int a = 0; a < 3; ++a) {
      const double lo = this->SourceBounds[2 * a], hi = this->SourceBounds[2 * a + 1];
      require(isFinite(lo) && isFinite(hi) && lo <= hi, "Source Bounds", lo, "its maximum, ", hi,
              ", must not be less than its minimum");
    }
  }
  if (this->SourceType == SOURCE_DATA && this->GetNumberOfInputConnections(1) == 0) {
    throw tributary::Error(
        "Source Type is Data, but Source is not set; connect Source, or choose another type");
  }
  if (!this->SteadyState) {
    require(this->TimeStep >= LeastStep && isFinite(this->TimeStep), "Time Step", this->TimeStep,
            "set it to ", LeastStep, " or more");
    require(this->MaximumCourantNumber >= 0 && isFinite(this->MaximumCourantNumber),
            "Maximum Courant Number", this->MaximumCourantNumber,
            "set it to a number greater than 0, or to 0 for no limit");
    require(this->NumberOfSteps >= 1 && this->NumberOfSteps <= MostSteps, "Number Of Steps",
            this->NumberOfSteps, "set it to a number in [1, 1000000]");
    if (this->StopAt == END_TIME) {
      require(!this->State->times.empty(), "End Time", this->EndTime,
              "set it to a time after the initial time, at most 1000000 steps later");
    }
    require(!this->State->times.empty(), "Time Step", this->TimeStep,
            "set it to a number greater than the rounding error of times");
  }
  require(this->ResidualThreshold > 0 && isFinite(this->ResidualThreshold), "Residual Threshold",
          this->ResidualThreshold, "set it to a number greater than 0");
  require(this->Slabs >= 0, "Slabs", this->Slabs,
          "set it to 1 or more, or to 0 for one per thread");
}

//------------------------------------------------------------------------------
void vtkAsyncConvectionDiffusion::DescribeEquation(tributary::PropertyList& list) {
  list.add("Diffusivity", this->Diffusivity);
  list.add("Decay", this->Decay);
  list.add("Conservative", this->Conservative);
  list.addAll("the conditions of sides", this->SideConditions);
  list.addAll("the values of sides", this->SideValues);
  list.add("Source Type", this->SourceType);
  list.add("Source Rate", this->SourceRate);
  list.addAll("Source Center", this->SourceCenter);
  list.add("Source Radius", this->SourceRadius);
  list.addAll("Source Bounds", this->SourceBounds);
  list.add("Use Initial Concentration", this->UseInitialConcentration);
  list.add("Steady State", this->SteadyState);
  list.add("Time Step", this->TimeStep);
  list.add("Maximum Courant Number", this->MaximumCourantNumber);
  list.add("Residual Threshold", this->ResidualThreshold);
  list.add("Iteration Limit", this->IterationLimit);
  list.add("Sweeps Per Exchange", this->SweepsPerExchange);
  list.add("Slabs", this->Slabs);
  this->MakeVelocityForm().describe(list);
  if (this->VelocityForm == VECTOR_ARRAY) {
    this->DescribeArray(list, "Velocity", VELOCITY);
  } else {
    this->DescribeArray(list, "X Component", COMPONENT);
    this->DescribeArray(list, "Y Component", COMPONENT + 1);
    this->DescribeArray(list, "Z Component", COMPONENT + 2);
  }
  this->DescribeArray(list, "Source Array", SOURCE);
  this->DescribeArray(list, "Initial Concentration", INITIAL);
  list.add("whether the input varies", this->State->inputVaries);
}

//------------------------------------------------------------------------------
void vtkAsyncConvectionDiffusion::DescribeProperties(tributary::PropertyList& list) {
  this->DescribeEquation(list);
  list.add("Stop At", this->StopAt);
  list.add("Number Of Steps", this->NumberOfSteps);
  list.add("End Time", this->EndTime);
  list.addAll("the list of time steps", this->State->times);
  list.add("the requested time step", this->State->goal);
  if (this->State->inputVaries) {
    // They also determine the requests to the inputs.
    list.add("the next time step", this->State->next);
    list.add("whether to restart", this->State->restart);
  }
}

//------------------------------------------------------------------------------
int vtkAsyncConvectionDiffusion::FillInputPortInformation(int port, vtkInformation* info) {
  if (port == 1) {
    info->Set(vtkAlgorithm::INPUT_IS_OPTIONAL(), 1);
  }
  return this->Superclass::FillInputPortInformation(port, info);
}

//------------------------------------------------------------------------------
int vtkAsyncConvectionDiffusion::FillOutputPortInformation(int port, vtkInformation* info) {
  info->Set(vtkDataObject::DATA_TYPE_NAME(), port == 0 ? "vtkDataObject" : "vtkTable");
  return 1;
}

//------------------------------------------------------------------------------
int vtkAsyncConvectionDiffusion::RequestInformation(vtkInformation* request,
                                                    vtkInformationVector** inputVector,
                                                    vtkInformationVector* outputVector) {
  this->Superclass::RequestInformation(request, inputVector, outputVector);
  tributary::ConvectionDiffusionState& state = *this->State;
  state.inputVaries = false;
  double begin = 0;
  for (int port = this->GetNumberOfInputPorts() - 1; port >= 0; --port) {
    const std::vector<double> times = timeStepsOf(inputVector[port]);
    state.inputVaries = state.inputVaries || times.size() > 1;
    begin = port == 0 && !times.empty() ? times.front() : 0;
  }
  state.times.clear();
  if (this->SteadyState) {
    return 1;
  }
  tributary::TimeStepping stepping{begin, this->TimeStep, this->NumberOfSteps, {}};
  if (this->StopAt == END_TIME) {
    stepping.end = this->EndTime;
  }
  state.times = tributary::timesOf(stepping);
  for (int port = 0; port < outputVector->GetNumberOfInformationObjects(); ++port) {
    vtkInformation* output = outputVector->GetInformationObject(port);
    if (state.times.empty()) {
      output->Remove(Pipeline::TIME_STEPS());
      output->Remove(Pipeline::TIME_RANGE());
      continue;
    }
    const double range[2] = {state.times.front(), state.times.back()};
    output->Set(Pipeline::TIME_STEPS(), state.times.data(), static_cast<int>(state.times.size()));
    output->Set(Pipeline::TIME_RANGE(), range, 2);
  }
  return 1;
}

//------------------------------------------------------------------------------
int vtkAsyncConvectionDiffusion::RequestUpdateExtent(vtkInformation* request,
                                                     vtkInformationVector** inputVector,
                                                     vtkInformationVector* outputVector) {
  this->Superclass::RequestUpdateExtent(request, inputVector, outputVector);
  tributary::ConvectionDiffusionState& state = *this->State;
  const int port = std::max(request->Get(Pipeline::FROM_OUTPUT_PORT()), 0);
  vtkInformation* output = outputVector->GetInformationObject(port);
  std::int64_t goal = this->SteadyState ? -1 : 0;
  if (!this->SteadyState && output->Has(Pipeline::UPDATE_TIME_STEP())) {
    goal =
        tributary::stepAt(state.times, this->TimeStep, output->Get(Pipeline::UPDATE_TIME_STEP()));
  }
  // If an input failed, the filter may still be under way to a step of an earlier request.
  if (!this->IsUnderWay || !state.continuesTo(goal)) {
    tributary::ConvectionDiffusionState::Basis basis;
    this->DescribeEquation(basis.properties);
    for (int i = 0; i < this->GetNumberOfInputPorts(); ++i) {
      if (this->GetNumberOfInputConnections(i) > 0) {
        auto* executive = vtkDemandDrivenPipeline::SafeDownCast(this->GetInputExecutive(i, 0));
        basis.inputTime = std::max(basis.inputTime, executive ? executive->GetPipelineMTime() : 0);
      }
    }
    state.plan(goal, std::move(basis), this->IsWhole);
  }
  if (this->SteadyState || state.times.empty()) {
    return 1;
  }
  for (int i = 0; i < this->GetNumberOfInputPorts(); ++i) {
    const std::vector<double> times = timeStepsOf(inputVector[i]);
    vtkInformation* input = inputVector[i]->GetInformationObject(0);
    if (times.size() > 1) {
      input->Set(Pipeline::UPDATE_TIME_STEP(), state.times[static_cast<std::size_t>(state.next)]);
    } else if (times.size() == 1) {
      // Request its only time: with another one it would execute again, for the same data.
      input->Set(Pipeline::UPDATE_TIME_STEP(), times.front());
    } else if (input) {
      input->Remove(Pipeline::UPDATE_TIME_STEP());
    }
  }
  return 1;
}

//------------------------------------------------------------------------------
tributary::VelocityForm vtkAsyncConvectionDiffusion::MakeVelocityForm() {
  const auto finder = [this](int index) {
    return [this, index](vtkDataSet* dataSet, int& association) {
      return this->GetInputArrayToProcess(index, dataSet, association);
    };
  };
  tributary::VelocityForm form;
  form.inComponents = this->VelocityForm == COMPONENTS;
  form.vectors = finder(VELOCITY);
  for (int c = 0; c < 3; ++c) {
    form.components[static_cast<std::size_t>(c)] = {this->NameOfArray(COMPONENT + c),
                                                    finder(COMPONENT + c)};
  }
  form.position = static_cast<tributary::ComponentPosition>(this->ComponentPosition);
  return form;
}

//------------------------------------------------------------------------------
tributary::ConvectionDiffusionSettings vtkAsyncConvectionDiffusion::MakeSettings() {
  using Kind = tributary::SideCondition::Kind;
  using Source = tributary::ConvectionDiffusionSettings::Source;
  constexpr Kind Kinds[] = {Kind::Outflow, Kind::Value, Kind::Flux, Kind::Periodic};
  constexpr Source Sources[] = {Source::None, Source::Array, Source::Sphere, Source::Box,
                                Source::Data};
  const auto choiceOf = [this](int index) {
    return [this, index](vtkDataSet* dataSet) {
      int association = vtkDataObject::FIELD_ASSOCIATION_NONE;
      vtkDataArray* array = this->GetInputArrayToProcess(index, dataSet, association);
      return tributary::PieceArray{array, association == vtkDataObject::FIELD_ASSOCIATION_CELLS};
    };
  };
  tributary::ConvectionDiffusionSettings settings;
  settings.velocity = this->MakeVelocityForm();
  settings.sourceArray = choiceOf(SOURCE);
  settings.initialArray = choiceOf(INITIAL);
  settings.diffusivity = this->Diffusivity;
  settings.decay = this->Decay;
  settings.conservative = this->Conservative;
  for (std::size_t side = 0; side < Sides; ++side) {
    settings.sides[side] = {Kinds[this->SideConditions[side]], this->SideValues[side]};
  }
  settings.source = Sources[this->SourceType];
  settings.sourceRate = this->SourceRate;
  std::copy_n(this->SourceCenter, 3, settings.sourceCenter.begin());
  settings.sourceRadius = this->SourceRadius;
  std::copy_n(this->SourceBounds, 6, settings.sourceBounds.begin());
  settings.useInitialConcentration = this->UseInitialConcentration;
  settings.maximumCourantNumber = this->MaximumCourantNumber;
  settings.residualThreshold = this->ResidualThreshold;
  settings.solver = this->MakeSolverSettings();
  settings.slabs = this->Slabs;
  return settings;
}

//------------------------------------------------------------------------------
bool vtkAsyncConvectionDiffusion::Execute(tributary::Transport& transport,
                                          vtkInformationVector** inputVector,
                                          vtkInformationVector* outputVector,
                                          tributary::RunStatistics& statistics) {
  tributary::ConvectionDiffusionSettings settings = this->MakeSettings();
  vtkInformation* info = outputVector->GetInformationObject(0);
  if (info->Has(Pipeline::UPDATE_TIME_STEP())) {
    settings.requestedTime = info->Get(Pipeline::UPDATE_TIME_STEP());
  }
  const tributary::RunContext context = this->MakeRunContext(transport, statistics);
  tributary::ConvectionDiffusionRun run(context, settings, *this->State);
  const bool isWhole = run.execute(
      vtkDataObject::GetData(inputVector[0], 0), vtkDataObject::GetData(inputVector[1], 0),
      vtkDataObject::GetData(outputVector, 0), vtkTable::GetData(outputVector, 1));
  this->IsUnderWay = isWhole && this->State->isUnderWay();
  return isWhole;
}

//------------------------------------------------------------------------------
void vtkAsyncConvectionDiffusion::PrintSelf(ostream& os, vtkIndent indent) {
  this->Superclass::PrintSelf(os, indent);
  os << indent << "VelocityForm: " << this->VelocityForm << "\n"
     << indent << "ComponentPosition: " << this->ComponentPosition << "\n"
     << indent << "Diffusivity: " << this->Diffusivity << "\n"
     << indent << "Decay: " << this->Decay << "\n"
     << indent << "Conservative: " << this->Conservative << "\n";
  for (int side = 0; side < Sides; ++side) {
    os << indent << SideNames[side] << " Condition: " << this->SideConditions[side] << "\n"
       << indent << SideNames[side] << " Value: " << this->SideValues[side] << "\n";
  }
  os << indent << "SourceType: " << this->SourceType << "\n"
     << indent << "SourceRate: " << this->SourceRate << "\n"
     << indent << "SourceCenter: " << this->SourceCenter[0] << " " << this->SourceCenter[1] << " "
     << this->SourceCenter[2] << "\n"
     << indent << "SourceRadius: " << this->SourceRadius << "\n"
     << indent << "SourceBounds:";
  for (const double bound : this->SourceBounds) {
    os << " " << bound;
  }
  os << "\n"
     << indent << "UseInitialConcentration: " << this->UseInitialConcentration << "\n"
     << indent << "SteadyState: " << this->SteadyState << "\n"
     << indent << "TimeStep: " << this->TimeStep << "\n"
     << indent << "MaximumCourantNumber: " << this->MaximumCourantNumber << "\n"
     << indent << "StopAt: " << this->StopAt << "\n"
     << indent << "NumberOfSteps: " << this->NumberOfSteps << "\n"
     << indent << "EndTime: " << this->EndTime << "\n"
     << indent << "ResidualThreshold: " << this->ResidualThreshold << "\n"
     << indent << "Slabs: " << this->Slabs << "\n";
}
