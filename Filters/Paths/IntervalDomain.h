// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataObject.h>
#include <vtkSmartPointer.h>

#include <cstdint>
#include <memory>

#include "Lines/DomainFromVTK.h"

#include "Tributary/Transport/Transport.h"

namespace tributary {

/// The data of a step and their time.
struct StepData {
  vtkDataObject* data = nullptr;
  double time = 0;
};

/// Local. A shallow copy of the data of a step, to keep them until a later one is executed.
/// @param ownsArrays  whether to copy the arrays too: a simulation that is at this step may
///                    overwrite its own
[[nodiscard]] vtkSmartPointer<vtkDataObject> copyOfStep(vtkDataObject* data, bool ownsArrays);

/// Collective. Makes the domain of the interval between two steps, with the vectors of both, and
/// the points of both where these move.
/// @param earlier  the step at the beginning; may be the later one, for one step alone
/// @param later  the step at the end
/// @param vectorsOf  finds the vectors of a data set
/// @param skippedTrees  Out: the number of hyper tree grids of this rank
/// @throws Error on all ranks if the cells of one differ between the steps, or as makeFlowDomain()
[[nodiscard]] std::unique_ptr<FlowDomain> makeIntervalDomain(Transport& transport,
                                                             const StepData& earlier,
                                                             const StepData& later,
                                                             const FindVectors& vectorsOf,
                                                             std::int64_t& skippedTrees);

}  // namespace tributary
