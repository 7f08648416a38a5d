// SPDX-License-Identifier: BSD-3-Clause
#include "vtkAsyncLineAlgorithm.h"

#include "Common/PropertyList.h"
#include "Common/Require.h"
#include "Lines/Crossings/EventText.h"
#include "Lines/LineSettings.h"

#include <vtkDataObject.h>
#include <vtkInformation.h>
#include <vtkPolyData.h>

#include <cmath>
#include <string>
#include <vector>

//------------------------------------------------------------------------------
vtkAsyncLineAlgorithm::vtkAsyncLineAlgorithm(double terminalSpeed)
    : vtkAsyncParticleAlgorithm(terminalSpeed) {
  this->SetNumberOfInputPorts(3);
  this->SetNumberOfOutputPorts(2);
}

//------------------------------------------------------------------------------
void vtkAsyncLineAlgorithm::SetSourceConnection(vtkAlgorithmOutput* seeds) {
  this->SetInputConnection(1, seeds);
}

//------------------------------------------------------------------------------
int vtkAsyncLineAlgorithm::FillInputPortInformation(int port, vtkInformation* info) {
  if (port == SURFACES) {
    info->Set(vtkAlgorithm::INPUT_IS_OPTIONAL(), 1);
  }
  return this->Superclass::FillInputPortInformation(port, info);
}

//------------------------------------------------------------------------------
void vtkAsyncLineAlgorithm::SetEventSurfaceConnection(vtkAlgorithmOutput* surfaces) {
  this->SetInputConnection(SURFACES, surfaces);
}

//------------------------------------------------------------------------------
void vtkAsyncLineAlgorithm::SetSurfaceLabelArray(const char* name) {
  const std::string array = name ? name : "";
  if (this->SurfaceLabelArray != array) {
    this->SurfaceLabelArray = array;
    this->Modified();
  }
}

//------------------------------------------------------------------------------
vtkPolyData* vtkAsyncLineAlgorithm::GetOutput() {
  return this->GetOutput(0);
}

//------------------------------------------------------------------------------
vtkPolyData* vtkAsyncLineAlgorithm::GetOutput(int port) {
  return vtkPolyData::SafeDownCast(this->GetOutputDataObject(port));
}

//------------------------------------------------------------------------------
int vtkAsyncLineAlgorithm::FillOutputPortInformation(int, vtkInformation* info) {
  info->Set(vtkDataObject::DATA_TYPE_NAME(), "vtkPolyData");
  return 1;
}

//------------------------------------------------------------------------------
void vtkAsyncLineAlgorithm::AddPointArray(const char* name) {
  if (name && this->PointArrays.emplace(name).second) {
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkAsyncLineAlgorithm::ClearPointArrays() {
  if (!this->PointArrays.empty()) {
    this->PointArrays.clear();
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkAsyncLineAlgorithm::AddEvent(const char* text) {
  if (text) {
    this->Events.emplace_back(text);
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkAsyncLineAlgorithm::ClearEvents() {
  if (!this->Events.empty()) {
    this->Events.clear();
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkAsyncLineAlgorithm::CheckProperties() {
  this->Superclass::CheckProperties();
  tributary::require(std::isfinite(this->RotationScale), "Rotation Scale", this->RotationScale,
                     "set it to a finite number");
  std::vector<tributary::EventArray> named;
  tributary::require(this->ParseEvents(named).count > 0 || !this->CrossingsOnly, "Crossings Only",
                     "on without events", "add an event to Events, or turn it off");
}

//------------------------------------------------------------------------------
void vtkAsyncLineAlgorithm::DescribeProperties(tributary::PropertyList& list) {
  this->Superclass::DescribeProperties(list);
  list.add("Compute Vorticity", this->ComputeVorticity);
  list.add("Rotation Scale", this->RotationScale);
  list.addAll("Point Arrays", this->PointArrays);
  list.addAll("Events", this->Events);
  list.add("Event Surfaces", this->HasSurface());
  list.add("Surface Label Array", this->SurfaceLabelArray);
  list.add("Crossings Only", this->CrossingsOnly);
}

//------------------------------------------------------------------------------
bool vtkAsyncLineAlgorithm::HasSurface() {
  return this->GetNumberOfInputConnections(SURFACES) > 0;
}

//------------------------------------------------------------------------------
vtkDataObject* vtkAsyncLineAlgorithm::FindSurface(vtkInformationVector** inputVector) {
  return this->HasSurface() ? vtkDataObject::GetData(inputVector[SURFACES], 0) : nullptr;
}

//------------------------------------------------------------------------------
tributary::EventList vtkAsyncLineAlgorithm::ParseEvents(std::vector<tributary::EventArray>& named) {
  return tributary::parseEvents(this->Events, named, this->HasSurface());
}

//------------------------------------------------------------------------------
tributary::LineSettings vtkAsyncLineAlgorithm::MakeLineSettings() {
  tributary::LineSettings settings{this->MakeTraceSettings()};
  settings.computeVorticity = this->ComputeVorticity;
  settings.rotationScale = this->RotationScale;
  settings.pointArrays = this->PointArrays;
  settings.rules.events = this->ParseEvents(settings.eventArrays);
  settings.surfaceLabels = this->SurfaceLabelArray;
  settings.crossingsOnly = this->CrossingsOnly;
  return settings;
}

//------------------------------------------------------------------------------
void vtkAsyncLineAlgorithm::PrintSelf(ostream& os, vtkIndent indent) {
  this->Superclass::PrintSelf(os, indent);
  os << indent << "ComputeVorticity: " << this->ComputeVorticity << "\n"
     << indent << "RotationScale: " << this->RotationScale << "\n"
     << indent << "PointArrays:";
  for (const std::string& name : this->PointArrays) {
    os << " \"" << name << "\"";
  }
  os << "\n";
  os << indent << "SurfaceLabelArray: " << this->SurfaceLabelArray << "\n";
  os << indent << "CrossingsOnly: " << this->CrossingsOnly << "\n" << indent << "Events:";
  for (const std::string& event : this->Events) {
    os << " \"" << event << "\"";
  }
  os << "\n";
}
