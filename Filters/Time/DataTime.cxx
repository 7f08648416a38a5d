// SPDX-License-Identifier: BSD-3-Clause
#include "Time/DataTime.h"

#include <vtkDataObject.h>
#include <vtkInformation.h>

#include <limits>

#include "Tributary/Collective/Collectives.h"

namespace tributary {

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

}  // namespace tributary
