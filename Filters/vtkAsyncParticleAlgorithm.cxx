// SPDX-License-Identifier: BSD-3-Clause
#include "vtkAsyncParticleAlgorithm.h"

#include "Common/PropertyList.h"
#include "Common/Require.h"
#include "Lines/LineSettings.h"
#include "Periodic/PeriodicAxes.h"
#include "Velocity/VelocityForm.h"

#include "Tributary/Base/NumberText.h"

#include <vtkDataObject.h>
#include <vtkDataSet.h>
#include <vtkDataSetAttributes.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkStreamingDemandDrivenPipeline.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

//------------------------------------------------------------------------------
vtkAsyncParticleAlgorithm::vtkAsyncParticleAlgorithm(double terminalSpeed)
    : TerminalSpeed(terminalSpeed) {
  this->SetInputArrayToProcess(0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS_THEN_CELLS,
                               vtkDataSetAttributes::VECTORS);
}

//------------------------------------------------------------------------------
int vtkAsyncParticleAlgorithm::RequestUpdateExtent(vtkInformation* request,
                                                   vtkInformationVector** inputVector,
                                                   vtkInformationVector* outputVector) {
  // Ghosts are not needed: particles are sent to the rank that owns the cell.
  for (int port = 0; port < this->GetNumberOfInputPorts(); ++port) {
    for (int i = 0; i < inputVector[port]->GetNumberOfInformationObjects(); ++i) {
      inputVector[port]->GetInformationObject(i)->Set(
          vtkStreamingDemandDrivenPipeline::UPDATE_NUMBER_OF_GHOST_LEVELS(), 0);
    }
  }
  return this->Superclass::RequestUpdateExtent(request, inputVector, outputVector);
}

//------------------------------------------------------------------------------
void vtkAsyncParticleAlgorithm::CheckProperties() {
  this->MakeVelocityForm().check();
  using tributary::require;
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
          "set it to 0 or a positive speed");
  tributary::checkPeriodic(this->MakePeriodicSettings());
  require(this->BlocksPerRank >= 1 && this->BlocksPerRank <= 1000000, "Blocks Per Rank",
          this->BlocksPerRank, "set it to a number in [1, 1000000]");
  require(this->LendingMemory >= 0 && this->LendingMemory <= 1000000, "Lending Memory",
          this->LendingMemory, "set it to a number of mebibytes in [0, 1000000]");
}

//------------------------------------------------------------------------------
void vtkAsyncParticleAlgorithm::DescribeProperties(tributary::PropertyList& list) {
  this->DescribeVelocity(list);
  list.add("Integrator Type", this->IntegratorType);
  list.add("Integration Step Unit", this->IntegrationStepUnit);
  list.add("Initial Step Length", this->InitialIntegrationStep);
  list.add("Minimum Step Length", this->MinimumIntegrationStep);
  list.add("Maximum Step Length", this->MaximumIntegrationStep);
  list.add("Maximum Error", this->MaximumError);
  list.add("Maximum Steps", this->MaximumNumberOfSteps);
  list.add("Terminal Speed", this->TerminalSpeed);
  list.addAll("Periodic", this->Periodic);
  list.addAll("Period", this->Period);
}

//------------------------------------------------------------------------------
tributary::PeriodicSettings vtkAsyncParticleAlgorithm::MakePeriodicSettings() const {
  return tributary::PeriodicSettings::of(this->Periodic, this->Period);
}

//------------------------------------------------------------------------------
void vtkAsyncParticleAlgorithm::DescribeVelocity(tributary::PropertyList& list) {
  this->MakeVelocityForm().describe(list);
  if (this->VelocityForm == VECTOR_ARRAY) {
    this->DescribeArray(list, "Vectors", 0);
    return;
  }
  this->DescribeArray(list, "X Component", 1);
  this->DescribeArray(list, "Y Component", 2);
  this->DescribeArray(list, "Z Component", 3);
}

//------------------------------------------------------------------------------
tributary::VelocityForm vtkAsyncParticleAlgorithm::MakeVelocityForm() {
  const auto finder = [this](int index) {
    return [this, index](vtkDataSet* dataSet, int& association) {
      return this->GetInputArrayToProcess(index, dataSet, association);
    };
  };
  tributary::VelocityForm form;
  form.inComponents = this->VelocityForm == COMPONENTS;
  form.vectors = finder(0);
  for (int c = 0; c < 3; ++c) {
    form.components[static_cast<std::size_t>(c)] = {this->NameOfArray(1 + c), finder(1 + c)};
  }
  form.position = static_cast<tributary::ComponentPosition>(this->ComponentPosition);
  form.onSphere = this->Coordinates == LONGITUDE_LATITUDE;
  form.radius = this->SphereRadius;
  return form;
}

//------------------------------------------------------------------------------
tributary::TraceSettings vtkAsyncParticleAlgorithm::MakeTraceSettings() {
  tributary::TraceSettings settings;
  settings.velocity = this->MakeVelocityForm();
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
  settings.periodic = this->MakePeriodicSettings();
  settings.blocksPerRank = this->BlocksPerRank;
  settings.keepDomain = this->KeepDomain && !this->GetReleaseDataFlag();
  settings.lendingMemory = static_cast<std::size_t>(this->LendingMemory) << 20;
  settings.exchange = this->MakeExchangeOptions();
  settings.autoTune = this->AutoTune;
  return settings;
}

//------------------------------------------------------------------------------
void vtkAsyncParticleAlgorithm::PrintSelf(ostream& os, vtkIndent indent) {
  this->Superclass::PrintSelf(os, indent);
  os << indent << "VelocityForm: " << this->VelocityForm << "\n"
     << indent << "ComponentPosition: " << this->ComponentPosition << "\n"
     << indent << "Coordinates: " << this->Coordinates << "\n"
     << indent << "SphereRadius: " << tributary::numberText(this->SphereRadius) << "\n"
     << indent << "IntegratorType: " << this->IntegratorType << "\n"
     << indent << "IntegrationStepUnit: " << this->IntegrationStepUnit << "\n"
     << indent << "InitialIntegrationStep: " << this->InitialIntegrationStep << "\n"
     << indent << "MinimumIntegrationStep: " << this->MinimumIntegrationStep << "\n"
     << indent << "MaximumIntegrationStep: " << this->MaximumIntegrationStep << "\n"
     << indent << "MaximumError: " << this->MaximumError << "\n"
     << indent << "MaximumNumberOfSteps: " << this->MaximumNumberOfSteps << "\n"
     << indent << "TerminalSpeed: " << this->TerminalSpeed << "\n"
     << indent << "Periodic: " << this->Periodic[0] << ", " << this->Periodic[1] << ", "
     << this->Periodic[2] << "\n"
     << indent << "Period: " << this->Period[0] << ", " << this->Period[1] << ", "
     << this->Period[2] << "\n"
     << indent << "BlocksPerRank: " << this->BlocksPerRank << "\n"
     << indent << "KeepDomain: " << this->KeepDomain << "\n"
     << indent << "LendingMemory: " << this->LendingMemory << "\n";
}
