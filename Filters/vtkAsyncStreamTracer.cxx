// SPDX-License-Identifier: BSD-3-Clause
#include "vtkAsyncStreamTracer.h"

#include "Common/PropertyList.h"
#include "Common/Require.h"
#include "Common/RunContext.h"
#include "Lines/StreamTracerRun.h"

#include <vtkDataObject.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkObjectFactory.h>
#include <vtkPolyData.h>
#include <vtkTable.h>

#include <limits>

vtkStandardNewMacro(vtkAsyncStreamTracer);

//------------------------------------------------------------------------------
vtkAsyncStreamTracer::vtkAsyncStreamTracer()
    : vtkAsyncLineAlgorithm(1e-12), State(new tributary::StreamTracerState) {
  this->SetNumberOfOutputPorts(3);
}

//------------------------------------------------------------------------------
vtkAsyncStreamTracer::~vtkAsyncStreamTracer() = default;

//------------------------------------------------------------------------------
void vtkAsyncStreamTracer::CheckProperties() {
  this->Superclass::CheckProperties();
  using tributary::require;
  require(this->MaximumPropagation > 0, "Maximum Streamline Length", this->MaximumPropagation,
          "set the maximum streamline length to a positive length");
  require(this->MaximumIntegrationTime >= 0, "Maximum Integration Time",
          this->MaximumIntegrationTime, "set it to a positive time, or to 0 for no limit");
  require(this->Destinations != LABEL_ARRAY || !this->EndLabelArray.empty(), "End Label Array",
          "empty",
          "set it to the name of a cell or point array of the input, or turn Destinations off");
}

//------------------------------------------------------------------------------
vtkTable* vtkAsyncStreamTracer::GetDestinationTable() {
  return vtkTable::SafeDownCast(this->GetOutputDataObject(2));
}

//------------------------------------------------------------------------------
int vtkAsyncStreamTracer::FillOutputPortInformation(int port, vtkInformation* info) {
  if (port < 2) {
    return this->Superclass::FillOutputPortInformation(port, info);
  }
  info->Set(vtkDataObject::DATA_TYPE_NAME(), "vtkTable");
  return 1;
}

//------------------------------------------------------------------------------
void vtkAsyncStreamTracer::SetSeedLabelArray(const char* name) {
  this->SetText(this->SeedLabelArray, name);
}

//------------------------------------------------------------------------------
void vtkAsyncStreamTracer::SetEndLabelArray(const char* name) {
  this->SetText(this->EndLabelArray, name);
}

//------------------------------------------------------------------------------
void vtkAsyncStreamTracer::SetText(std::string& property, const char* text) {
  const std::string value = text ? text : "";
  if (property != value) {
    property = value;
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkAsyncStreamTracer::DescribeProperties(tributary::PropertyList& list) {
  this->Superclass::DescribeProperties(list);
  list.add("Integration Direction", this->IntegrationDirection);
  list.add("Join Directions", this->JoinDirections);
  list.add("Maximum Streamline Length", this->MaximumPropagation);
  list.add("Maximum Integration Time", this->MaximumIntegrationTime);
  list.add("Surface Streamlines", this->SurfaceStreamlines);
  list.add("Report Rejected Seeds", this->ReportRejectedSeeds);
  list.add("Crossing Arrays", this->CrossingArrays);
  list.add("Destinations", this->Destinations);
  list.add("Seed Label Array", this->SeedLabelArray);
  list.add("End Label Array", this->EndLabelArray);
  list.add("Lending Memory", this->LendingMemory);
}

//------------------------------------------------------------------------------
tributary::StreamTracerSettings vtkAsyncStreamTracer::MakeSettings() {
  tributary::StreamTracerSettings settings{this->MakeLineSettings()};
  tributary::StepRules& rules = settings.rules;
  rules.maximumLength = this->MaximumPropagation;
  rules.maximumTime = this->MaximumIntegrationTime > 0 ? this->MaximumIntegrationTime
                                                       : std::numeric_limits<double>::infinity();
  rules.onSurface = this->SurfaceStreamlines;
  rules.record = !this->CrossingsOnly;
  rules.crossingContent = this->CrossingArrays == NO_ARRAYS ? tributary::CrossingContent::Positions
                          : this->CrossingArrays == IDS_AND_TIMES
                              ? tributary::CrossingContent::Times
                              : tributary::CrossingContent::All;
  settings.forward = this->IntegrationDirection != BACKWARD;
  settings.backward = this->IntegrationDirection != FORWARD;
  settings.joinDirections = this->JoinDirections;
  settings.reportRejectedSeeds = this->ReportRejectedSeeds;
  if (this->Destinations != NO_DESTINATIONS) {
    settings.destinations = {this->Destinations == LABEL_ARRAY ? tributary::DestinationKind::Label
                                                               : tributary::DestinationKind::Reason,
                             this->SeedLabelArray, this->EndLabelArray};
  }
  this->DescribeVelocity(settings.field);
  settings.field.addAll("Periodic", this->Periodic);
  settings.field.addAll("Period", this->Period);
  this->DescribeProperties(settings.properties);
  settings.properties.add("Schedule", this->Schedule);
  settings.properties.add("Detector", this->Detector);
  settings.properties.add("Arrivals", this->Arrivals);
  return settings;
}

//------------------------------------------------------------------------------
void vtkAsyncStreamTracer::ForgetExecution() {
  this->State->setup.reset();
  this->State->meshes.reset();
  this->State->surface.reset();
}

//------------------------------------------------------------------------------
bool vtkAsyncStreamTracer::Execute(tributary::Transport& transport,
                                   vtkInformationVector** inputVector,
                                   vtkInformationVector* outputVector,
                                   tributary::RunStatistics& statistics) {
  const tributary::RunContext context = this->MakeRunContext(transport, statistics);
  const tributary::StreamTracerSettings settings = this->MakeSettings();
  return tributary::StreamTracerRun(context, settings, *this->State)
      .execute(vtkDataObject::GetData(inputVector[0], 0), vtkDataObject::GetData(inputVector[1], 0),
               this->FindSurface(inputVector), vtkPolyData::GetData(outputVector, 0),
               vtkPolyData::GetData(outputVector, 1), vtkTable::GetData(outputVector, 2));
}

//------------------------------------------------------------------------------
void vtkAsyncStreamTracer::PrintSelf(ostream& os, vtkIndent indent) {
  this->Superclass::PrintSelf(os, indent);
  os << indent << "IntegrationDirection: " << this->IntegrationDirection << "\n"
     << indent << "JoinDirections: " << this->JoinDirections << "\n"
     << indent << "MaximumPropagation: " << this->MaximumPropagation << "\n"
     << indent << "MaximumIntegrationTime: " << this->MaximumIntegrationTime << "\n"
     << indent << "SurfaceStreamlines: " << this->SurfaceStreamlines << "\n"
     << indent << "ReportRejectedSeeds: " << this->ReportRejectedSeeds << "\n"
     << indent << "CrossingArrays: " << this->CrossingArrays << "\n"
     << indent << "Destinations: " << this->Destinations << "\n"
     << indent << "SeedLabelArray: " << this->SeedLabelArray << "\n"
     << indent << "EndLabelArray: " << this->EndLabelArray << "\n";
}
