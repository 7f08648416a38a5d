// SPDX-License-Identifier: BSD-3-Clause
#include "vtkAsyncAlgorithm.h"

#include "Common/ControllerTransport.h"
#include "Common/PropertyList.h"
#include "Common/Require.h"
#include "Common/RunContext.h"
#include "Common/RunStatistics.h"

#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Exchange/Exchange.h"
#include "Tributary/Termination/Detector.h"

#include <vtkDataObject.h>
#include <vtkDataObjectTypes.h>
#include <vtkErrorCode.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkMultiProcessController.h>
#include <vtkSmartPointer.h>
#include <vtkStreamingDemandDrivenPipeline.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <string>
#include <vector>

namespace {
/// Seconds between two looks at the abort flag, which may call back into a client.
constexpr double MONITOR_INTERVAL = 0.02;
}  // anonymous namespace

//------------------------------------------------------------------------------
vtkAsyncAlgorithm::vtkAsyncAlgorithm() {
  this->SetController(vtkMultiProcessController::GetGlobalController());
}

//------------------------------------------------------------------------------
vtkAsyncAlgorithm::~vtkAsyncAlgorithm() {
  this->SetController(nullptr);
}

//------------------------------------------------------------------------------
vtkCxxSetObjectMacro(vtkAsyncAlgorithm, Controller, vtkMultiProcessController);

//------------------------------------------------------------------------------
void vtkAsyncAlgorithm::SetDetector(const char* name) {
  const std::string detector = name ? name : "";
  if (this->Detector != detector) {
    this->Detector = detector;
    this->Modified();
  }
}

//------------------------------------------------------------------------------
int vtkAsyncAlgorithm::FillInputPortInformation(int, vtkInformation* info) {
  info->Set(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkDataSet");
  info->Append(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkCompositeDataSet");
  return 1;
}

//------------------------------------------------------------------------------
std::string vtkAsyncAlgorithm::ClassOfOutput(int port, vtkDataObject* input) {
  const std::string type =
      this->GetOutputPortInformation(port)->Get(vtkDataObject::DATA_TYPE_NAME());
  return type == "vtkDataObject" && input ? input->GetClassName() : type;
}

//------------------------------------------------------------------------------
int vtkAsyncAlgorithm::RequestDataObject(vtkInformation*, vtkInformationVector** inputVector,
                                         vtkInformationVector* outputVector) {
  vtkDataObject* input = vtkDataObject::GetData(inputVector[0], 0);
  if (!input) {
    return 0;
  }
  for (int port = 0; port < this->GetNumberOfOutputPorts(); ++port) {
    const std::string type = this->ClassOfOutput(port, input);
    vtkInformation* info = outputVector->GetInformationObject(port);
    vtkDataObject* old = vtkDataObject::GetData(info);
    if (!old || old->GetClassName() != type) {
      const auto output = vtk::TakeSmartPointer(vtkDataObjectTypes::NewDataObject(type.c_str()));
      info->Set(vtkDataObject::DATA_OBJECT(), output);
    }
  }
  return 1;
}

//------------------------------------------------------------------------------
int vtkAsyncAlgorithm::RequestUpdateExtent(vtkInformation*, vtkInformationVector** inputVector,
                                           vtkInformationVector*) {
  using Pipeline = vtkStreamingDemandDrivenPipeline;
  // The executive passed on what the output port was asked for, its extent too, which is that of
  // another input.
  for (int port = 0; port < this->GetNumberOfInputPorts(); ++port) {
    for (int i = 0; i < inputVector[port]->GetNumberOfInformationObjects(); ++i) {
      vtkInformation* info = inputVector[port]->GetInformationObject(i);
      if (info->Has(Pipeline::WHOLE_EXTENT())) {
        info->Set(Pipeline::UPDATE_EXTENT(), info->Get(Pipeline::WHOLE_EXTENT()), 6);
      }
    }
  }
  return 1;
}

//------------------------------------------------------------------------------
void vtkAsyncAlgorithm::GiveUp(vtkInformationVector* outputVector) {
  this->IsWhole = false;
  this->IsUnderWay = false;
  this->ForgetExecution();
  for (int port = 0; port < this->GetNumberOfOutputPorts(); ++port) {
    if (vtkDataObject* output = vtkDataObject::GetData(outputVector, port)) {
      output->Initialize();
    }
  }
}

//------------------------------------------------------------------------------
int vtkAsyncAlgorithm::RequestData(vtkInformation* request, vtkInformationVector** inputVector,
                                   vtkInformationVector* outputVector) {
  using Pipeline = vtkStreamingDemandDrivenPipeline;
  this->SetErrorCode(vtkErrorCode::NoError);
  this->LastLook = -1;
  this->IsWhole = false;
  this->IsUnderWay = false;
  request->Remove(Pipeline::CONTINUE_EXECUTING());
  std::string error;
  try {
    const auto owned = tributary::makeTransport(this->Controller);
    tributary::Transport& transport = *owned;
    tributary::RunStatistics statistics(transport);
    tributary::PropertyList properties;
    tributary::collectively(transport, [&] {
      this->CheckProperties();
      this->CheckExchangeProperties();
      properties.add("Schedule", this->Schedule);
      properties.add("Detector", this->Detector);
      properties.add("AutoTune", this->AutoTune);
      this->DescribeProperties(properties);
    });
    properties.agree(transport);
    this->IsWhole = this->Execute(transport, inputVector, outputVector, statistics);
    if (!this->IsWhole) {
      this->GiveUp(outputVector);
    } else if (vtkDataObject* output = vtkDataObject::GetData(outputVector, 0)) {
      // The class's name without "vtk".
      statistics.write(std::string(this->GetClassName()).substr(3) + " ", output->GetFieldData());
    }
    if (this->IsUnderWay) {
      request->Set(Pipeline::CONTINUE_EXECUTING(), 1);
    }
    return 1;
  } catch (const std::exception& e) {
    error = e.what();
  } catch (...) {
    error = "an error of an unknown kind";
  }
  this->GiveUp(outputVector);
  this->SetErrorCode(vtkErrorCode::UserError);
  // All ranks are here with the same error: one message is enough.
  if (!this->Controller || this->Controller->GetLocalProcessId() == 0) {
    vtkErrorMacro(<< this->Failure() << ": " << error << ".");
  }
  // The executive would add an error on every rank if this were not called a success.
  return 1;
}

//------------------------------------------------------------------------------
void vtkAsyncAlgorithm::DescribeArray(tributary::PropertyList& list, const char* name, int index) {
  vtkInformation* info = this->GetInputArrayInformation(index);
  const auto number = [&](vtkInformationIntegerKey* key) {
    return info->Has(key) ? info->Get(key) : -1;
  };
  const char* array = info->Get(vtkDataObject::FIELD_NAME());
  list.add(name, number(vtkDataObject::FIELD_ASSOCIATION()));
  list.add(name, number(vtkDataObject::FIELD_ATTRIBUTE_TYPE()));
  list.add(name, std::string(array ? array : ""));
}

//------------------------------------------------------------------------------
void vtkAsyncAlgorithm::CheckExchangeProperties() {
  using tributary::require;
  require(this->Arrivals >= 0 && this->Arrivals <= 1, "Arrivals", this->Arrivals,
          "set it to a share from 0 to 1");
  require(this->BatchBytes >= 1, "BatchBytes", this->BatchBytes, "set it to 1 or more");
  require(this->HoldTime >= 0 && std::isfinite(this->HoldTime), "HoldTime", this->HoldTime,
          "set it to 0 or more microseconds");
  require(this->StallTimeout >= 0, "StallTimeout", this->StallTimeout,
          "set it to a positive number of seconds, or to 0 to wait for ever");
  const auto known = tributary::detectorNames(tributary::WorkModel::AP);
  std::string choices = "\"default\"";
  for (const std::string& name : known) {
    choices += ", \"" + name + "\"";
  }
  require(this->Detector == "default" ||
              std::find(known.begin(), known.end(), this->Detector) != known.end(),
          "Detector", this->Detector, "set it to one of ", choices);
}

//------------------------------------------------------------------------------
tributary::ExchangeOptions vtkAsyncAlgorithm::MakeExchangeOptions() {
  constexpr tributary::Schedule schedules[] = {tributary::Schedule::Synchronous,
                                               tributary::Schedule::Neighborhood,
                                               tributary::Schedule::Asynchronous};
  tributary::ExchangeOptions options;
  options.schedule = schedules[this->Schedule];
  options.arrivals = this->Arrivals;
  options.detector = this->Detector;
  options.batchBytes = static_cast<std::size_t>(this->BatchBytes);
  options.holdTime = this->HoldTime;
  options.stallTimeout = this->StallTimeout;
  return options;
}

//------------------------------------------------------------------------------
tributary::RunContext vtkAsyncAlgorithm::MakeRunContext(tributary::Transport& transport,
                                                        tributary::RunStatistics& statistics) {
  return {transport, statistics,
          [this, &transport](double progress) { return this->Monitor(transport, progress); },
          [this, &transport](bool interrupted) {
            return this->AbortedTogether(transport, interrupted);
          },
          [this](const std::string& text) { vtkWarningMacro(<< text); }};
}

//------------------------------------------------------------------------------
bool vtkAsyncAlgorithm::Monitor(tributary::Transport& transport, double progress) {
  const double now = transport.now();
  if (this->LastLook >= 0 && now - this->LastLook < MONITOR_INTERVAL) {
    return true;
  }
  this->LastLook = now;
  this->UpdateProgress(progress);
  return !this->CheckAbort();
}

//------------------------------------------------------------------------------
bool vtkAsyncAlgorithm::AbortedTogether(tributary::Transport& transport, bool mine) {
  const bool aborted = mine || this->CheckAbort();
  if (tributary::allreduce(transport, tributary::ReduceOp::Or, std::int64_t(aborted)) == 0) {
    return false;
  }
  this->SetAbortOutput(true);  // also where nobody asked for it, so that all ranks go on alike
  return true;
}

//------------------------------------------------------------------------------
void vtkAsyncAlgorithm::PrintSelf(ostream& os, vtkIndent indent) {
  this->Superclass::PrintSelf(os, indent);
  os << indent << "Schedule: " << this->Schedule << "\n"
     << indent << "Arrivals: " << this->Arrivals << "\n"
     << indent << "Detector: " << this->Detector << "\n"
     << indent << "BatchBytes: " << this->BatchBytes << "\n"
     << indent << "HoldTime: " << this->HoldTime << " microseconds\n"
     << indent << "AutoTune: " << this->AutoTune << "\n"
     << indent << "StallTimeout: " << this->StallTimeout << " seconds\n"
     << indent << "Controller: " << this->Controller << "\n";
}
