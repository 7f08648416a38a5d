// SPDX-License-Identifier: BSD-3-Clause
#include "Time/DataTime.h"

#include <vtkAlgorithm.h>
#include <vtkDataObject.h>
#include <vtkExecutive.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkNew.h>
#include <vtkStreamingDemandDrivenPipeline.h>

#include <algorithm>
#include <cstddef>
#include <limits>

#include "Tributary/Collective/Collectives.h"

namespace tributary {
namespace {
using Pipeline = vtkStreamingDemandDrivenPipeline;
}  // namespace

std::optional<double> timeOfData(Transport& transport, vtkDataObject* data) {
  constexpr double None = -std::numeric_limits<double>::infinity();
  vtkInformation* info = data ? data->GetInformation() : nullptr;
  const double known = allreduce(transport, ReduceOp::Max,
                                 info && info->Has(vtkDataObject::DATA_TIME_STEP())
                                     ? info->Get(vtkDataObject::DATA_TIME_STEP())
                                     : None);
  if (known == None) return std::nullopt;
  return known;
}

Span<const double> reportedTimes(vtkInformation* input) {
  return {input->Get(Pipeline::TIME_STEPS()),
          static_cast<std::size_t>(input->Length(Pipeline::TIME_STEPS()))};
}

double requestedTime(vtkInformation* request, vtkInformationVector* outputs) {
  const int port = std::max(request->Get(Pipeline::FROM_OUTPUT_PORT()), 0);
  vtkInformation* output = outputs->GetInformationObject(port);
  return output->Has(Pipeline::UPDATE_TIME_STEP()) ? output->Get(Pipeline::UPDATE_TIME_STEP())
                                                   : std::numeric_limits<double>::quiet_NaN();
}

std::vector<vtkMTimeType> modificationTimes(vtkAlgorithm& filter) {
  std::vector<vtkMTimeType> times;
  for (int port = 0; port < filter.GetNumberOfInputPorts(); ++port) {
    int producerPort = 0;
    vtkAlgorithm* producer = filter.GetInputAlgorithm(port, 0, producerPort);
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

std::vector<std::pair<const vtkAlgorithm*, int>> producersOf(vtkAlgorithm& filter) {
  std::vector<std::pair<const vtkAlgorithm*, int>> producers;
  for (int port = 0; port < filter.GetNumberOfInputPorts(); ++port) {
    int producerPort = 0;
    const vtkAlgorithm* producer = filter.GetInputAlgorithm(port, 0, producerPort);
    producers.emplace_back(producer, producerPort);
  }
  return producers;
}

}  // namespace tributary
