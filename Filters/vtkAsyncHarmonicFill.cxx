// SPDX-License-Identifier: BSD-3-Clause
#include "vtkAsyncHarmonicFill.h"

#include "Common/PropertyList.h"
#include "Common/Require.h"
#include "Common/RunContext.h"
#include "Grids/HarmonicFillRun.h"
#include "Periodic/PeriodicAxes.h"

#include <vtkDataArray.h>
#include <vtkDataObject.h>
#include <vtkDataSet.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkObjectFactory.h>

#include <cmath>

vtkStandardNewMacro(vtkAsyncHarmonicFill);

//------------------------------------------------------------------------------
void vtkAsyncHarmonicFill::AddPointArray(const char* name) {
  if (name && *name) {
    this->PointArrays.emplace_back(name);
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkAsyncHarmonicFill::AddCellArray(const char* name) {
  if (name && *name) {
    this->CellArrays.emplace_back(name);
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkAsyncHarmonicFill::ClearPointArrays() {
  this->PointArrays.clear();
  this->Modified();
}

//------------------------------------------------------------------------------
void vtkAsyncHarmonicFill::ClearCellArrays() {
  this->CellArrays.clear();
  this->Modified();
}

//------------------------------------------------------------------------------
void vtkAsyncHarmonicFill::CheckProperties() {
  using tributary::require;
  require(this->Unknown != VALUE || std::isfinite(this->UnknownValue), "Unknown Value",
          this->UnknownValue, "set it to a finite number, or Unknown to Not A Number");
  require(this->Tolerance > 0 && std::isfinite(this->Tolerance), "Tolerance", this->Tolerance,
          "set it to a number greater than 0");
  require(this->CycleLimit >= 1, "Cycle Limit", this->CycleLimit, "set it to 1 or more");
  const tributary::PeriodicSettings periodic = this->MakePeriodicSettings();
  tributary::checkPeriodic(periodic);
  require(this->Smoothness != BIHARMONIC || !periodic.any(), "Periodic", "on",
          "a biharmonic fill does not continue at the sides: switch it off, or set Smoothness to "
          "Harmonic");
}

//------------------------------------------------------------------------------
tributary::PeriodicSettings vtkAsyncHarmonicFill::MakePeriodicSettings() const {
  return tributary::PeriodicSettings::of(this->Periodic, this->Period);
}

//------------------------------------------------------------------------------
void vtkAsyncHarmonicFill::DescribeProperties(tributary::PropertyList& list) {
  list.addAll("Point Arrays", this->PointArrays);
  list.addAll("Cell Arrays", this->CellArrays);
  list.add("Smoothness", this->Smoothness);
  list.add("Unknown", this->Unknown);
  this->DescribeArray(list, "Mask", 0);
  list.add("Invert Mask", this->InvertMask);
  list.add("Unknown Value", this->UnknownValue);
  list.add("Show Filled", this->ShowFilled);
  list.add("Mark Filled", this->MarkFilled);
  list.add("Tolerance", this->Tolerance);
  list.add("Cycle Limit", this->CycleLimit);
  list.addAll("Periodic", this->Periodic);
  list.addAll("Period", this->Period);
}

//------------------------------------------------------------------------------
int vtkAsyncHarmonicFill::FillOutputPortInformation(int, vtkInformation* info) {
  info->Set(vtkDataObject::DATA_TYPE_NAME(), "vtkDataObject");
  return 1;
}

//------------------------------------------------------------------------------
bool vtkAsyncHarmonicFill::Execute(tributary::Transport& transport,
                                   vtkInformationVector** inputVector,
                                   vtkInformationVector* outputVector,
                                   tributary::RunStatistics& statistics) {
  using Unknown = tributary::HarmonicFillSettings::Unknown;
  constexpr Unknown Unknowns[] = {Unknown::NotANumber, Unknown::Mask, Unknown::Blanked,
                                  Unknown::Value, Unknown::Missing};
  tributary::HarmonicFillSettings settings;
  settings.pointArrays = this->PointArrays;
  settings.cellArrays = this->CellArrays;
  settings.smoothness = this->Smoothness == BIHARMONIC ? tributary::FillSmoothness::Biharmonic
                                                       : tributary::FillSmoothness::Harmonic;
  settings.unknown = Unknowns[this->Unknown];
  settings.mask = [this](vtkDataSet* dataSet) {
    int association = vtkDataObject::FIELD_ASSOCIATION_NONE;
    vtkDataArray* array = this->GetInputArrayToProcess(0, dataSet, association);
    const bool isAtCells = association == vtkDataObject::FIELD_ASSOCIATION_CELLS;
    const bool isAtPoints = association == vtkDataObject::FIELD_ASSOCIATION_POINTS;
    return tributary::PieceArray{isAtCells || isAtPoints ? array : nullptr, isAtCells};
  };
  settings.invertMask = this->InvertMask;
  settings.unknownValue = this->UnknownValue;
  settings.showFilled = this->ShowFilled;
  settings.markFilled = this->MarkFilled;
  settings.tolerance = this->Tolerance;
  settings.cycleLimit = this->CycleLimit;
  settings.periodic = this->MakePeriodicSettings();
  settings.solver = this->MakeSolverSettings();
  const tributary::RunContext context = this->MakeRunContext(transport, statistics);
  return tributary::HarmonicFillRun(context, settings)
      .execute(vtkDataObject::GetData(inputVector[0], 0), vtkDataObject::GetData(outputVector, 0));
}

//------------------------------------------------------------------------------
void vtkAsyncHarmonicFill::PrintSelf(ostream& os, vtkIndent indent) {
  this->Superclass::PrintSelf(os, indent);
  const auto list = [&](const char* name, const std::vector<std::string>& arrays) {
    os << indent << name << ":";
    for (const std::string& array : arrays) {
      os << " " << array;
    }
    os << "\n";
  };
  list("PointArrays", this->PointArrays);
  list("CellArrays", this->CellArrays);
  os << indent << "Smoothness: " << this->Smoothness << "\n"
     << indent << "Unknown: " << this->Unknown << "\n"
     << indent << "InvertMask: " << this->InvertMask << "\n"
     << indent << "UnknownValue: " << this->UnknownValue << "\n"
     << indent << "ShowFilled: " << this->ShowFilled << "\n"
     << indent << "MarkFilled: " << this->MarkFilled << "\n"
     << indent << "Tolerance: " << this->Tolerance << "\n"
     << indent << "CycleLimit: " << this->CycleLimit << "\n"
     << indent << "Periodic: " << this->Periodic[0] << " " << this->Periodic[1] << " "
     << this->Periodic[2] << "\n"
     << indent << "Period: " << this->Period[0] << " " << this->Period[1] << " " << this->Period[2]
     << "\n";
}
