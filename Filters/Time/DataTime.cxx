// SPDX-License-Identifier: BSD-3-Clause
#include "Time/DataTime.h"

#include <vtkDataObject.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
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

}  // namespace tributary
