// SPDX-License-Identifier: BSD-3-Clause
#include "vtkAsyncLineAlgorithm.h"

#include "Common/PropertyList.h"
#include "Common/Require.h"
#include "Lines/LineSettings.h"

#include <vtkDataObject.h>
#include <vtkInformation.h>
#include <vtkPolyData.h>

#include <cmath>
#include <string>

//------------------------------------------------------------------------------
vtkAsyncLineAlgorithm::vtkAsyncLineAlgorithm(double terminalSpeed)
    : vtkAsyncParticleAlgorithm(terminalSpeed) {
  this->SetNumberOfInputPorts(2);
}

//------------------------------------------------------------------------------
void vtkAsyncLineAlgorithm::SetSourceConnection(vtkAlgorithmOutput* seeds) {
  this->SetInputConnection(1, seeds);
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
void vtkAsyncLineAlgorithm::CheckProperties() {
  this->Superclass::CheckProperties();
  tributary::require(std::isfinite(this->RotationScale), "Rotation Scale", this->RotationScale,
                     "set it to a finite number");
}

//------------------------------------------------------------------------------
void vtkAsyncLineAlgorithm::DescribeProperties(tributary::PropertyList& list) {
  this->Superclass::DescribeProperties(list);
  list.add("Compute Vorticity", this->ComputeVorticity);
  list.add("Rotation Scale", this->RotationScale);
  list.addAll("Point Arrays", this->PointArrays);
}

//------------------------------------------------------------------------------
tributary::LineSettings vtkAsyncLineAlgorithm::MakeLineSettings() {
  tributary::LineSettings settings{this->MakeTraceSettings()};
  settings.computeVorticity = this->ComputeVorticity;
  settings.rotationScale = this->RotationScale;
  settings.pointArrays = this->PointArrays;
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
}
