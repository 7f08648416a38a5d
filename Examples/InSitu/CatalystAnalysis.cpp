// SPDX-License-Identifier: BSD-3-Clause
#include <vtkCPDataDescription.h>
#include <vtkCPInputDataDescription.h>
#include <vtkCPProcessor.h>
#include <vtkCPPythonPipeline.h>
#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkImageData.h>
#include <vtkNew.h>
#include <vtkPointData.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "Analysis.h"

namespace {

/// The name of the channel that scripts read.
constexpr const char* Channel = "grid";

void addValue(vtkFieldData* data, const char* name, double value) {
  vtkNew<vtkDoubleArray> array;
  array->SetName(name);
  array->InsertNextValue(value);
  data->AddArray(array);
}

/// An image whose arrays use the memory of the fields.
void pass(FlowFields& fields, vtkImageData* image) {
  image->SetExtent(fields.extent.data());
  image->SetOrigin(fields.origin.data());
  image->SetSpacing(fields.spacing, fields.spacing, fields.spacing);
  for (Field& field : fields.fields) {
    vtkNew<vtkDoubleArray> array;
    array->SetName(field.name.c_str());
    array->SetNumberOfComponents(field.components);
    array->SetArray(field.values.data(), static_cast<vtkIdType>(field.values.size()), 1);
    image->GetPointData()->AddArray(array);
  }
}

class CatalystAnalysis final : public Analysis {
 public:
  CatalystAnalysis(const std::vector<std::string>& scripts, const std::string& folder) {
    if (!processor_->Initialize(folder.c_str()))
      throw std::runtime_error("Catalyst cannot be initialized");
    for (const std::string& script : scripts) {
      // Scripts are loaded at the first step, in the folder that they write to.
      const std::string path = std::filesystem::absolute(script).string();
      const auto pipeline = vtkCPPythonPipeline::CreateAndInitializePipeline(path.c_str(), 2);
      if (!pipeline) throw std::runtime_error("the script \"" + script + "\" cannot be loaded");
      processor_->AddPipeline(pipeline);
    }
  }
  ~CatalystAnalysis() override { processor_->Finalize(); }

  void execute(const StepInformation& information,
               const std::function<FlowFields()>& fields) override {
    vtkNew<vtkCPDataDescription> description;
    description->AddInput(Channel);
    description->SetTimeData(information.time, information.step);
    if (!processor_->RequestDataDescription(description)) return;
    // Scripts and filters may keep the image until the next step, and so the memory of its arrays.
    FlowFields previous = std::move(fields_);
    fields_ = fields();
    vtkNew<vtkImageData> image;
    pass(fields_, image);
    addValue(image->GetFieldData(), "SolverSeconds", information.solverSeconds);
    addValue(image->GetFieldData(), "WritesRestart", information.writesRestart);
    vtkCPInputDataDescription* input = description->GetInputDescriptionByName(Channel);
    input->SetWholeExtent(fields_.wholeExtent.data());
    input->SetGrid(image);
    if (!processor_->CoProcess(description))
      throw std::runtime_error("a script has failed; see its messages");
  }

 private:
  vtkNew<vtkCPProcessor> processor_;
  FlowFields fields_;
};

}  // namespace

std::unique_ptr<Analysis> makeCatalystAnalysis(const std::vector<std::string>& scripts,
                                               const std::string& folder) {
  return std::make_unique<CatalystAnalysis>(scripts, folder);
}
