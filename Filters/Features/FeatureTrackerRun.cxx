// SPDX-License-Identifier: BSD-3-Clause
#include "Features/FeatureTrackerRun.h"

#include <vtkDataObject.h>
#include <vtkInformation.h>
#include <vtkPolyData.h>
#include <vtkTable.h>

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
  resumeError.clear();
  resumed.reset();
  if (!time.beginsAnew() || hasBegun || directory.empty()) return;
  try {
    findResumable(directory);
  } catch (const Error& error) {
    resumeError = error.what();
  }
}

void FeatureTrackerState::findResumable(const std::string& directory) {
  auto index = Checkpoint(directory).find();
  if (!index) return;
  const auto refuse = [&](const char* what) {
    throw Error("the checkpoint in \"" + directory + "\" was written with other " + what +
                "; restore these, or switch Resume off");
  };
  if (index->basis != requested.properties.packed()) refuse("properties");
  if (!time.fits(index->steps)) refuse("time steps");
  if (time.planToResume(index->steps)) resumed = std::move(index);
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

/// Collective. Reads the checkpoint that was found.
void FeatureTrackerRun::load() {
  try {
    const Checkpoint checkpoint(settings_.checkpointDirectory);
    state_.tracking->load(context_.transport, checkpoint.read(context_.transport, *state_.resumed));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Input && error.kind() != ErrorKind::Message) throw;
    throw Error(
        error.kind(),
        std::string(error.what()) + "; switch Resume off, or choose another Checkpoint Directory",
        error.rank());
  }
}

/// Collective. Prepares to add the step at a time.
void FeatureTrackerRun::begin(double time) {
  TimePlan::Start start = state_.time.start(time);
  if (start == TimePlan::Start::First) {
    state_.tracking = settings_.criticalPoints ? makeCriticalTracking() : makeRegionTracking();
    state_.begun = state_.requested;
    if (state_.resumed && (!state_.time.steps().empty() || time >= state_.resumed->time)) {
      load();
      start = state_.time.resume(state_.resumed->steps, state_.resumed->time, time);
    }
    state_.resumed.reset();
    state_.hasBegun = true;
    state_.stepsAdded = 0;
  }
  if (start == TimePlan::Start::Again) state_.tracking->takeBack();
}

/// Collective. Writes a checkpoint after a step if one is due.
void FeatureTrackerRun::writeCheckpoint() {
  if (settings_.checkpointDirectory.empty() ||
      ++state_.stepsAdded % settings_.checkpointInterval != 0)
    return;
  CheckpointIndex index;
  Bytes part;
  collectively(context_.transport, [&] {
    index.basis = state_.begun.properties.packed();
    index.steps = state_.time.executed();
    index.time = state_.time.lastTime();
    part = state_.tracking->save();
  });
  Checkpoint(settings_.checkpointDirectory).write(context_.transport, std::move(index), part);
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
