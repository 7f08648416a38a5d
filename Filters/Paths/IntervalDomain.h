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

/// Collective. Throws Error on all ranks if the mesh changes between two steps and the vectors are
/// missing at one of them: in all data sets, or in some while all have them at the other step.
/// @param changes  whether the mesh is known to change; otherwise, it does if the number of data
///                 sets with vectors does
void requireVectors(Transport& transport, const StepData& earlier, const StepData& later,
                    const VelocityForm& form, bool changes);

/// The domains of an interval between two steps.
struct IntervalDomains {
  /// With the vectors of both steps, and the points of both where these move. Where the mesh
  /// changes: of the earlier step alone.
  std::unique_ptr<FlowDomain> flow;
  std::unique_ptr<FlowDomain> later;  ///< Where the mesh changes: of the later step alone.
};

/// Collective. Makes the domains of the interval between two steps. The mesh changes if the data
/// sets of a rank differ by more than the places of points.
/// @param earlier  the step at the beginning; may be the later one, for one step alone
/// @param later  the step at the end
/// @param form  of the velocity of each step
/// @param periodic  of closeFlow()
/// @param skippedTrees  Out: the number of hyper tree grids of this rank
/// @throws Error on all ranks if the mesh changes and the vectors are missing at one step, have
///         another name there, or belong to points at one step and to cells at the other; or as
///         makeFlowDomain()
[[nodiscard]] IntervalDomains makeIntervalDomains(Transport& transport, const StepData& earlier,
                                                  const StepData& later, const VelocityForm& form,
                                                  const PeriodicAxes& periodic,
                                                  std::int64_t& skippedTrees);

}  // namespace tributary
