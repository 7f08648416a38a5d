// SPDX-License-Identifier: BSD-3-Clause
#include "vtkAsyncAlgorithm.h"

#include "Common/ControllerTransport.h"
#include "Common/DataVersion.h"
#include "Common/InputCheck.h"
#include "Common/Interruption.h"
#include "Common/PropertyList.h"
#include "Common/RunContext.h"
#include "Common/RunStatistics.h"
#include "Common/VTKVersions.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Base/LargeBuffers.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

#include <vtkAbstractArray.h>
#include <vtkCommand.h>
#include <vtkCompositeDataSet.h>
#include <vtkDataObject.h>
#include <vtkDataObjectTypes.h>
#include <vtkDataSet.h>
#include <vtkErrorCode.h>
#include <vtkFieldData.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkMultiProcessController.h>
#include <vtkSmartPointer.h>
#include <vtkStreamingDemandDrivenPipeline.h>

#include <atomic>
#include <cctype>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {
/// The filters of this process.
std::atomic<int> filters{0};

/// Seconds between two progress events, which may call back into a client.
constexpr double EventInterval = 0.02;

/// Outputs that are empty after an error satisfy requests for any extent. The pipeline would
/// otherwise execute a filter with structured outputs again, and repeat the error, at each update.
void setSatisfyAnyExtent(vtkInformationVector* outputs, bool satisfy) {
  for (int port = 0; port < outputs->GetNumberOfInformationObjects(); ++port) {
    if (vtkDataObject* output = vtkDataObject::GetData(outputs, port)) {
      output->GetInformation()->Set(vtkDataObject::DATA_EXTENT_TYPE(),
                                    satisfy ? VTK_PIECES_EXTENT : output->GetExtentType());
    }
  }
}

/// Hides the arrays that a filter has added to its field data from lists of arrays to color by or
/// to process: they describe the execution, not the data.
void hideAdded(vtkFieldData* ofInput, vtkFieldData* ofOutput) {
  std::set<vtkAbstractArray*> given;
  for (int i = 0; ofInput && i < ofInput->GetNumberOfArrays(); ++i) {
    given.insert(ofInput->GetAbstractArray(i));
  }
  for (int i = 0; i < ofOutput->GetNumberOfArrays(); ++i) {
    vtkAbstractArray* const array = ofOutput->GetAbstractArray(i);
    if (given.count(array) == 0) {
      array->GetInformation()->Set(vtkAbstractArray::GUI_HIDE(), 1);
    }
  }
}

/// The name of a filter in menus, from that of its class: "Async Stream Tracer".
std::string labelOf(const std::string& className) {
  std::string label;
  for (const char c : className.substr(3)) {
    label += std::isupper(static_cast<unsigned char>(c)) && !label.empty() ? " " : "";
    label += c;
  }
  return label;
}

/// Ends the loop of an executive that repeats the execution of a filter.
struct ExecutiveLoop : vtkStreamingDemandDrivenPipeline {
  static void end(vtkExecutive* executive) {
    if (auto* pipeline = vtkStreamingDemandDrivenPipeline::SafeDownCast(executive)) {
      pipeline->*(&ExecutiveLoop::ContinueExecuting) = 0;
    }
  }
};
}  // anonymous namespace

//------------------------------------------------------------------------------
vtkAsyncAlgorithm::vtkAsyncAlgorithm() : CheckedInputs(new std::vector<tributary::DataVersion>) {
  this->SetController(vtkMultiProcessController::GetGlobalController());
  if (++filters == 1) {
    tributary::keepBuffers(true);
  }
}

//------------------------------------------------------------------------------
vtkAsyncAlgorithm::~vtkAsyncAlgorithm() {
  this->SetController(nullptr);
  if (--filters == 0) {
    tributary::keepBuffers(false);
  }
}

//------------------------------------------------------------------------------
void vtkAsyncAlgorithm::SetController(vtkMultiProcessController* controller) {
  if (this->Controller == controller) {
    return;
  }
  this->ForgetExecution();  // its state is that of other ranks
  vtkSetObjectBodyMacro(Controller, vtkMultiProcessController, controller);
}

//------------------------------------------------------------------------------
int vtkAsyncAlgorithm::FillInputPortInformation(int, vtkInformation* info) {
  // The executive would refuse another type on the ranks that have it alone, and the others would
  // wait: RequestData() refuses it on all.
  info->Set(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkDataObject");
  return 1;
}

//------------------------------------------------------------------------------
bool vtkAsyncAlgorithm::CanProcess(vtkDataObject* input) {
  return vtkDataSet::SafeDownCast(input) || vtkCompositeDataSet::SafeDownCast(input);
}

//------------------------------------------------------------------------------
void vtkAsyncAlgorithm::CheckInput(vtkDataObject* input) {
  if (input && !this->CanProcess(input)) {
    throw tributary::Error(std::string("the input is a ") + input->GetClassName() +
                           "; convert it to an unstructured grid, a structured grid or poly data");
  }
  tributary::checkStructure(input);
}

//------------------------------------------------------------------------------
void vtkAsyncAlgorithm::CheckInputs(vtkInformationVector** inputVector) {
  std::vector<tributary::DataVersion> checked;
  for (int port = 0; port < this->GetNumberOfInputPorts(); ++port) {
    for (int i = 0; i < inputVector[port]->GetNumberOfInformationObjects(); ++i) {
      vtkDataObject* input = vtkDataObject::GetData(inputVector[port], i);
      const std::size_t place = checked.size();
      if (place >= this->CheckedInputs->size() || !(*this->CheckedInputs)[place].isCurrent(input)) {
        this->CheckInput(input);
      }
      checked.emplace_back(input);
    }
  }
  *this->CheckedInputs = std::move(checked);
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
vtkTypeBool vtkAsyncAlgorithm::ProcessRequest(vtkInformation* request,
                                              vtkInformationVector** inputVector,
                                              vtkInformationVector* outputVector) {
  if (!this->GetProgressText()) {
    this->SetProgressText(labelOf(this->GetClassName()).c_str());
  }
  if (request->Has(vtkStreamingDemandDrivenPipeline::REQUEST_UPDATE_TIME())) {
    const bool hasExecuted = std::exchange(this->HasExecuted, false);
    if (this->IsUnderWay && !hasExecuted) {
      this->EndLoop(request, inputVector, outputVector);
    }
  }
  return this->Superclass::ProcessRequest(request, inputVector, outputVector);
}

//------------------------------------------------------------------------------
void vtkAsyncAlgorithm::EndLoop(vtkInformation* request, vtkInformationVector** inputVector,
                                vtkInformationVector* outputVector) {
  // The inputs of other ranks may have succeeded: these ranks wait in RequestData().
  this->HasFailedInput = true;
  this->RequestData(request, inputVector, outputVector);
  this->HasFailedInput = false;
  ExecutiveLoop::end(this->GetExecutive());
  this->InvokeEvent(vtkCommand::EndEvent);  // as the executive does after the last execution
}

//------------------------------------------------------------------------------
int vtkAsyncAlgorithm::RequestInformation(vtkInformation*, vtkInformationVector**,
                                          vtkInformationVector*) {
  this->IsUnderWay = false;  // a property or an input was modified
  // An earlier abort. RequestData() would modify the filter; see there.
  tributary::clearAborted(this);
  return 1;
}

//------------------------------------------------------------------------------
int vtkAsyncAlgorithm::RequestUpdateExtent(vtkInformation*, vtkInformationVector** inputVector,
                                           vtkInformationVector*) {
  using Pipeline = vtkStreamingDemandDrivenPipeline;
  // The executive copies the extent requested of the output, which need not be that of an input.
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
  // SetErrorCode() would modify the filter. If the executive repeats the execution, it would then
  // request information again, and one piece of all data on each rank.
  this->ErrorCode = vtkErrorCode::NoError;
  this->HasExecuted = true;
  this->IsWhole = false;
  const bool continues = std::exchange(this->IsUnderWay, false);
  request->Remove(Pipeline::CONTINUE_EXECUTING());
  setSatisfyAnyExtent(outputVector, false);
  this->LastEvents = -1;
  this->NextProgress = continues ? this->NextProgress : 0;
  std::string error;
  std::unique_ptr<tributary::Transport, tributary::DestroyTransport> owned;
  const auto abandon = [&](tributary::ErrorKind kind, const std::string& text) {
    error = text;
    if (owned) {
      owned->abandon(kind, text.c_str());
    }
  };
  try {
    owned = tributary::makeTransport(this->Controller);
    tributary::Transport& transport = *owned;
    const tributary::Interruption interruption(
        transport, [this, &transport] { return this->ProcessEvents(transport); });
    tributary::RunStatistics statistics(transport);
    tributary::PropertyList properties;
    tributary::ErrorCollector errors;
    errors.attempt([&] {
      if (this->HasFailedInput) {
        throw tributary::Error(
            "an input has failed at one of the time steps that the filter needs; correct the "
            "input: see its own message");
      }
      this->CheckProperties();
      this->CheckExecutionProperties();
      this->DescribeExecutionProperties(properties);
      this->DescribeProperties(properties);
      this->CheckInputs(inputVector);
    });
    properties.agree(transport, errors);
    this->BeginExecution(transport, continues);
    this->IsWhole = this->Execute(transport, inputVector, outputVector, statistics);
    if (!this->IsWhole) {
      this->GiveUp(outputVector);
    } else if (vtkDataObject* output = vtkDataObject::GetData(outputVector, 0)) {
      // The class's name without "vtk".
      statistics.write(std::string(this->GetClassName()).substr(3) + " ", output->GetFieldData());
      vtkDataObject* input = vtkDataObject::GetData(inputVector[0], 0);
      hideAdded(input ? input->GetFieldData() : nullptr, output->GetFieldData());
    }
    if (this->IsWhole) {
      this->EndExecution(transport);
      tributary::clearAborted(this);  // an abort that came too late, on this rank alone
    }
    if (this->IsUnderWay) {
      request->Set(Pipeline::CONTINUE_EXECUTING(), 1);
    }
    return 1;
  } catch (const tributary::LostMessage& e) {
    abandon(e.kind(), e.what());
  } catch (const tributary::MpiError& e) {
    abandon(e.kind(), e.what());
  } catch (const tributary::Error& e) {
    // All ranks have agreed on it: only the types above are thrown on one rank.
    if (e.kind() == tributary::ErrorKind::Aborted) {
      tributary::markAborted(this);  // also on ranks that were not asked to abort
      this->GiveUp(outputVector);
      return 1;
    }
    error = e.what();
  } catch (...) {
    // Not an error that all ranks have agreed on, such as no memory somewhere between agreements.
    const tributary::ErrorReport report = tributary::currentExceptionReport();
    abandon(report.kind, report.text);
  }
  this->GiveUp(outputVector);
  tributary::clearAborted(this);  // all ranks report the error
  setSatisfyAnyExtent(outputVector, true);
  this->SetErrorCode(vtkErrorCode::UserError);
  // All ranks have the same error: rank 0 reports it.
  if (!this->Controller || this->Controller->GetLocalProcessId() == 0) {
    vtkErrorMacro(<< this->Failure() << ": " << error << ".");
  }
  // The executive would report another error on each rank if this returned 0.
  return 1;
}

//------------------------------------------------------------------------------
void vtkAsyncAlgorithm::DescribeArray(tributary::PropertyList& list, const char* name, int index) {
  vtkInformation* info = this->GetInputArrayInformation(index);
  const auto number = [&](vtkInformationIntegerKey* key) {
    return info->Has(key) ? info->Get(key) : -1;
  };
  list.add(name, number(vtkDataObject::FIELD_ASSOCIATION()));
  list.add(name, number(vtkDataObject::FIELD_ATTRIBUTE_TYPE()));
  list.add(name, this->NameOfArray(index));
}

//------------------------------------------------------------------------------
std::string vtkAsyncAlgorithm::NameOfArray(int index) {
  const char* name = this->GetInputArrayInformation(index)->Get(vtkDataObject::FIELD_NAME());
  return name ? name : "";
}

//------------------------------------------------------------------------------
tributary::RunContext vtkAsyncAlgorithm::MakeRunContext(tributary::Transport& transport,
                                                        tributary::RunStatistics& statistics) {
  return {
      transport,
      statistics,
      [this, &transport](double progress) { return this->Monitor(transport, progress); },
      [this, &transport](bool interrupted) { return this->AgreeOnAbort(transport, interrupted); },
      [this](const std::string& text) { vtkWarningMacro(<< text); },
      [this](const std::string& text) { this->WarnOnce(text); }};
}

//------------------------------------------------------------------------------
void vtkAsyncAlgorithm::WarnOnce(const std::string& text) {
  const vtkMTimeType modified = this->GetMTime();
  if (std::exchange(this->WarnedTime, modified) != modified) {
    this->Warned.clear();
  }
  if (this->Warned.insert(text).second) {
    vtkWarningMacro(<< text);
  }
}

//------------------------------------------------------------------------------
bool vtkAsyncAlgorithm::Monitor(tributary::Transport& transport, double progress) {
  this->NextProgress = progress;
  return !this->ProcessEvents(transport) && !transport.isInterrupted();
}

//------------------------------------------------------------------------------
bool vtkAsyncAlgorithm::ProcessEvents(tributary::Transport& transport) {
  const double now = transport.now();
  if (this->LastEvents < 0 || now - this->LastEvents >= EventInterval) {
    this->LastEvents = now;
    this->UpdateProgress(this->NextProgress);
  }
  return tributary::isAskedToAbort(this);
}

//------------------------------------------------------------------------------
bool vtkAsyncAlgorithm::AgreeOnAbort(tributary::Transport& transport, bool interrupted) {
  const bool aborted = interrupted || tributary::isAskedToAbort(this);
  if (tributary::allreduce(transport, tributary::ReduceOp::Or, std::int64_t(aborted)) == 0) {
    return false;
  }
  tributary::markAborted(this);  // also on ranks that were not asked to abort
  return true;
}

//------------------------------------------------------------------------------
void vtkAsyncAlgorithm::PrintSelf(ostream& os, vtkIndent indent) {
  this->Superclass::PrintSelf(os, indent);
  os << indent << "Controller: " << this->Controller << "\n";
}
