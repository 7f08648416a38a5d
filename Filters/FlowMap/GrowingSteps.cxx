// SPDX-License-Identifier: BSD-3-Clause
#include "FlowMap/GrowingSteps.h"

#include <algorithm>
#include <utility>

#include "FlowMap/MapCheckpoint.h"

namespace tributary {

void GrowingSteps::planFor(Span<const double> steps, double time, double length, Basis basis,
                           const std::vector<vtkMTimeType>& times, bool isWhole) {
  duration = length;
  isSingle = steps.size() == 1;  // Catalyst's producer repeats the first one
  const bool isModified = inputTimes != times;
  PathSteps::planFor(steps, time, std::move(basis), times, isWhole);
  const bool hasSteps = !plan.steps().empty() && !plan.added().empty();
  if (!hasSteps || !isComplete() || plan.outputTime() < end()) idleTime.reset();
  if (!hasSteps) return;
  const double wanted = plan.outputTime(), reached = plan.added().back();
  if (isComplete() && wanted >= end()) {
    if (isModified) idleTime = plan.steps().back();  // a simulation is at its last step
    plan.plan(steps, reached, true);
  } else if (wanted < reached) {
    plan.plan(steps, wanted, false);
  }
}

void GrowingSteps::planToResume(const std::string& directory) {
  using Fit = CheckpointUse::Fit;
  checkpoints.find(plan.added().empty() ? directory : "", requested.properties.packed(),
                   [&](const CheckpointIndex& index) {
                     const SavedMap saved = loadMapSteps(index.common);
                     const double first = saved.added.front(), last = saved.added.back();
                     PathPlan resumed = plan;
                     if (!resumed.planToResume(saved.added, saved.passedOver))
                       return Fit::OtherSteps;
                     if (!plan.steps().empty()) {
                       // Only the particles at the last step were saved.
                       if (resumed.added().size() < saved.added.size())
                         return plan.steps().front() == first ? Fit::IsLater : Fit::OtherSteps;
                       if (resumed.outputTime() < std::min(last, first + duration))
                         return Fit::IsLater;
                     }
                     plan = std::move(resumed);
                     return Fit::Resumes;
                   });
}

}  // namespace tributary
