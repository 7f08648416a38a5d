// SPDX-License-Identifier: BSD-3-Clause
#include "Features/FeatureTrackerRun.h"

#include <vtkDataObject.h>
#include <vtkInformation.h>
#include <vtkPolyData.h>
#include <vtkTable.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "Common/Leaves.h"
#include "Common/RunStatistics.h"
#include "Regions/KeptDomain.h"
#include "Time/DataTime.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"

namespace tributary {

void FeatureTrackerState::plan(Span<const double> steps, double requestedTime, Basis basis,
                               bool isWhole) {
  time.plan(steps, requestedTime, isWhole && basis == begun);
  requested = std::move(basis);
}

void FeatureTrackerState::planToResume(const std::string& directory) {
  using Fit = CheckpointUse::Fit;
  checkpoints.find(time.beginsAnew() ? directory : "", requested.properties.packed(),
                   [&](const CheckpointIndex& index) {
                     return !time.fits(index.steps)          ? Fit::OtherSteps
                            : time.planToResume(index.steps) ? Fit::Resumes
                                                             : Fit::IsLater;
                   });
}

FeatureTrackerRun::FeatureTrackerRun(const RunContext& context,
                                     const FeatureTrackerSettings& settings,
                                     FeatureTrackerState& state)
    : context_(context), settings_(settings), state_(state) {
  context_.monitor = [monitor = context.monitor, &plan = state.time](double share) {
    const auto done = static_cast<double>(plan.next() - plan.first());
    const auto all = static_cast<double>(plan.goal() - plan.first() + 1);
    return monitor(std::min(1.0, (done + share) / all));
  };
}

/// Collective. The time of the step.
/// @param isPassedOver  set if the input is not at the requested time, and later steps follow
double FeatureTrackerRun::timeOf(vtkDataObject* input, bool& isPassedOver) const {
  const std::optional<double> known = timeOfData(context_.transport, input);
  const TimePlan& plan = state_.time;
  isPassedOver = false;
  if (plan.steps().empty()) return known.value_or(0);
  const double requested = plan.steps()[plan.next()];
  isPassedOver = known && *known != requested && plan.next() < plan.goal();
  return requested;
}

/// Collective. Prepares to add the step at a time.
void FeatureTrackerRun::begin(double time) {
  TimePlan::Start start = state_.time.start(time);
  if (start == TimePlan::Start::First) {
    state_.tracking = settings_.criticalPoints ? makeCriticalTracking() : makeRegionTracking();
    state_.begun = state_.requested;
    const auto& found = state_.checkpoints.found();
    if (found && (!state_.time.steps().empty() || time >= found->time)) {
      state_.checkpoints.load(
          context_.transport, settings_.checkpoints.directory,
          [&](std::vector<Bytes> parts) { state_.tracking->load(context_.transport, parts); });
      start = state_.time.resume(found->steps, found->time, time);
    }
    state_.checkpoints.begin();
  }
  if (start == TimePlan::Start::Again) state_.tracking->takeBack();
}

/// Collective. Writes a checkpoint after a step if one is due.
void FeatureTrackerRun::writeCheckpoint() {
  const auto save = [&](CheckpointIndex& index) {
    index.basis = state_.begun.properties.packed();
    index.steps = state_.time.executed();
    index.time = state_.time.lastTime();
    return state_.tracking->save();
  };
  if (state_.checkpoints.addStep(context_.transport, settings_.checkpoints, save))
    context_.statistics.phase("CheckpointSeconds");
}

bool FeatureTrackerRun::execute(vtkDataObject* input, const FeatureOutputs& outputs) {
  collectively(context_.transport, [&] {
    for (const Leaf& leaf : leavesAndTreesOf(input))
      if (leaf.trees)
        throw Error(
            "the input has hyper tree grids, which are not tracked; apply Hyper Tree Grid To "
            "Unstructured Grid to them first");
  });
  bool isPassedOver = false;
  const double time = timeOf(input, isPassedOver);
  begin(time);
  if (!isPassedOver) {
    if (!state_.tracking->addStep(context_, settings_, input, time)) return false;
    state_.time.add(time);
  }
  isUnderWay_ = state_.time.advance();
  if (!isPassedOver) writeCheckpoint();
  if (!isUnderWay_) {
    if (!state_.tracking->write(context_, settings_, input, outputs)) return false;
    for (vtkDataObject* output : std::initializer_list<vtkDataObject*>{
             outputs.mesh, outputs.trajectories, outputs.features, outputs.events, outputs.edges})
      output->GetInformation()->Set(vtkDataObject::DATA_TIME_STEP(), time);
  }
  state_.tracking->release();
  if (settings_.criticalPoints || !settings_.regions.keepDomain) settings_.regions.kept->release();
  return true;
}

}  // namespace tributary
