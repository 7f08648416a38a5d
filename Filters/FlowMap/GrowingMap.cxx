// SPDX-License-Identifier: BSD-3-Clause
// The part of FlowMapRun for a window that begins at the first step and grows.
#include <algorithm>
#include <string>
#include <utility>

#include "Common/FreshArray.h"
#include "FlowMap/FlowMapRun.h"
#include "FlowMap/MapCheckpoint.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Base/NumberText.h"
#include "Tributary/Collective/Agree.h"

namespace tributary {

using Task = PathPlan::Task;

void FlowMapState::planToGrow(Span<const double> steps, double time, double duration,
                              PathSteps::Basis basis, const std::vector<vtkMTimeType>& times,
                              bool isWhole, const std::array<int, 6>& ofRank,
                              const std::string& directory) {
  kept.clear();
  plan = {};
  const bool isSameExtent = seeds && extent == ofRank;
  extent = ofRank;
  growing.planFor(steps, time, duration, std::move(basis), times, isWhole && isSameExtent);
  growing.planToResume(directory);
  counts = {};
}

/// Collective. Loads the checkpoint that was found.
/// @param step  that was executed, the last one of the checkpoint
/// @param task  what to do with it, according to the plan
/// @return what to do with it
Task FlowMapRun::resume(const StepData& step, Task task, const int extent[6]) {
  GrowingSteps& steps = state_.growing;
  if (task == Task::First) return task;  // the simulation begins before the checkpoint
  const CheckpointIndex& index = *steps.checkpoints.found();
  const SavedMap saved = loadMapSteps(index.common);  // the same on all ranks
  if (steps.plan.added().size() < saved.added.size()) {
    if (step.time == saved.added.front()) return Task::First;
    throw Error("the checkpoint has particles at the time " + numberText(saved.added.back()) +
                " only, not at " + numberText(step.time) +
                "; begin the run that resumes there, or switch Resume off");  // on all ranks
  }
  steps.checkpoints.load(
      context_.transport, settings_.checkpoints.directory, [&](const std::vector<Bytes>& parts) {
        collectively(context_.transport, [&] {
          if (settings_.onGrid) {
            if (!std::equal(saved.grid.dimensions.begin(), saved.grid.dimensions.end(),
                            settings_.dimensions.begin()))
              refuseMessage("a grid of seeds of other dimensions");
            state_.grid = saved.grid;
            state_.seeds =
                std::make_unique<GridSeeds>(state_.grid, extent, settings_.periodic.periodic);
          } else {
            makePointSeeds(step, saved.along, saved.distance, {}, 0);
          }
          requireMemory(MapParticles::memory(tributary::index(state_.seeds->count())));
        });
        state_.particles = loadParticles(context_.transport, parts, *state_.seeds);
      });
  steps.begun = steps.requested;
  return task;
}

/// Collective. Begins a window: makes seeds, and finds out which of them lie in cells.
/// @return false after an abort
bool FlowMapRun::begin(const StepData& step, const int extent[6]) {
  GrowingSteps& steps = state_.growing;
  if (step.time + settings_.duration == step.time)
    throw Error("Integration Time " + numberText(settings_.duration) +
                " is lost in the rounding of the time " + numberText(step.time) +
                "; set it to a longer time");
  state_.seeds.reset();
  state_.memory.choice.reset();
  steps.begun = steps.requested;
  state_.interval = 0;
  onlyLocates_ = true;
  const TimeInterval nothing{step.time, afterStep(step.time), step.time};
  const bool isWhole = trace(step, step, nothing, step.time, extent);
  onlyLocates_ = false;
  if (!isWhole) return false;
  --state_.counts.intervals;
  return true;
}

/// Collective. Continues all particles from the step that is kept.
/// @param step  at the end of the interval
/// @param stop  where particles stop, not after the step
/// @return false after an abort
bool FlowMapRun::grow(const StepData& step, double stop, const int extent[6]) {
  const GrowingSteps& steps = state_.growing;
  state_.interval = steps.plan.added().size() - 1;
  // The seeds that lie in no cell at the first step are traced, too: so a particle does not depend
  // on whether that step was requested.
  if (state_.interval == 0) collectively(context_.transport, [&] { place(steps.begin()); });
  return trace({steps.kept, steps.keptTime}, step, {steps.keptTime, step.time, stop}, steps.begin(),
               extent);
}

/// Collective. Writes a checkpoint after a step if one is due.
void FlowMapRun::writeCheckpoint() {
  GrowingSteps& steps = state_.growing;
  const auto save = [&](CheckpointIndex& index) {
    SavedMap map;
    map.added = steps.plan.added();
    map.passedOver = steps.plan.passedOver();
    map.grid = state_.grid;
    for (int axis = 0; axis < 3; ++axis)
      map.along[tributary::index(axis)] = state_.seeds->isAlong(axis);
    map.distance = state_.distance;
    index.basis = steps.begun.properties.packed();
    index.steps = map.added;
    index.time = map.added.back();
    index.common = saveMapSteps(map);
    return saveParticles(*state_.seeds, state_.particles);
  };
  if (steps.checkpoints.addStep(context_.transport, settings_.checkpoints, save))
    context_.statistics.phase("CheckpointSeconds");
}

MapWindow FlowMapRun::grownWindow() const {
  const GrowingSteps& steps = state_.growing;
  MapWindow window;
  window.begin = steps.begin();
  window.end = std::max(window.begin, std::min(steps.plan.outputTime(), steps.end()));
  window.time = window.end;
  window.traced = window.end - window.begin;
  window.reads = state_.counts.reads;
  window.reused = steps.plan.added().size() - std::min(steps.plan.added().size(), window.reads);
  window.kept = steps.kept ? 1 : 0;
  return window;
}

bool FlowMapRun::executeGrowing(vtkDataObject* input, const int extent[6], vtkDataObject* output) {
  GrowingSteps& steps = state_.growing;
  PathPlan& plan = steps.plan;
  const bool resumes = steps.checkpoints.found().has_value();  // on all ranks
  auto [step, task, isPassedOver, hasTime] = steps.next(context_.transport, input);
  hasTime_ = hasTime;
  if (isPassedOver) {
    plan.passOver();
    isUnderWay_ = true;
    return true;
  }
  if (resumes) task = resume(step, task, extent);
  done_ = static_cast<double>(plan.next() - plan.first());
  all_ = static_cast<double>(plan.goal() - plan.first() + 1);
  const bool wasComplete = task != Task::First && steps.isComplete();
  const double stop = task == Task::First ? step.time : std::min(step.time, steps.end());
  MapParticles before;
  switch (task) {
    case Task::First:
      if (!begin(step, extent)) return false;
      break;
    case Task::Advance:
      if (!wasComplete && !grow(step, stop, extent)) return false;
      break;
    case Task::Part:
      collectively(context_.transport, [&] {
        requireMemory(MapParticles::memory(state_.particles.x.size()));
        before = state_.particles;
      });
      if (!grow(step, std::min(plan.outputTime(), stop), extent)) return false;
      break;
    case Task::Load:
    case Task::Nothing:
      break;
  }
  state_.counts.reads += task != Task::Nothing;
  isUnderWay_ = plan.advance(task, step.time) && !steps.isComplete();
  if (resumes || task == Task::First) steps.checkpoints.begin();
  if (steps.isComplete())
    steps.kept = nullptr;
  else if (task != Task::Part && task != Task::Nothing)
    steps.keep(context_.transport, step);
  if (task == Task::First || (task == Task::Advance && !wasComplete)) writeCheckpoint();
  if (isUnderWay_) return true;
  write(grownWindow(), extent, output);
  if (task == Task::Part) state_.particles = std::move(before);
  return true;
}

}  // namespace tributary
