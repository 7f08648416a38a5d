// SPDX-License-Identifier: BSD-3-Clause
#include "Paths/PathSteps.h"

#include <optional>
#include <sstream>

#include "Time/DataTime.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"

namespace tributary {

void PathSteps::planFor(Span<const double> steps, double time, Basis basis,
                        const std::vector<vtkMTimeType>& times, bool isWhole) {
  const std::size_t before = plan.steps().size();
  const bool isSame = isWhole && basis == begun;
  const bool isUnchanged = inputTimes == times;
  plan.plan(steps, time, isSame);
  // A simulation modifies its output in each step. Elsewhere the data of earlier steps may be
  // others.
  if (isSame && !isUnchanged && !plan.steps().empty() && plan.steps().size() == before)
    plan.plan(steps, time, false);
  requested = std::move(basis);
}

PathSteps::Next PathSteps::next(Transport& transport, vtkDataObject* input) {
  using Task = PathPlan::Task;
  const std::optional<double> known = timeOfData(transport, input);
  Next found;
  found.step.data = input;
  if (plan.steps().empty()) {
    found.hasTime = known.has_value();
    found.step.time = known.value_or(0);
    plan.rewind(found.step.time);  // throws on all ranks
    found.task = plan.task(found.step.time);
    return found;
  }
  const double requestedTime = plan.steps()[plan.next()];
  found.step.time = requestedTime;
  found.task = plan.task(requestedTime);
  const bool isOther = known && *known != requestedTime && plan.next() < plan.goal();
  found.isPassedOver = isOther && (found.task == Task::First || found.task == Task::Advance);
  if (isOther && found.task == Task::Load) {
    std::ostringstream text;
    text << "the input cannot go back to the time " << requestedTime << " (its data are of "
         << *known << "); request a time step, or a later time";
    throw Error(text.str());  // on all ranks
  }
  return found;
}

void PathSteps::keep(Transport& transport, const StepData& step,
                     const std::function<void()>& further) {
  collectively(transport, [&] {
    if (further) further();
    kept = nullptr;
    kept = copyOfStep(step.data, isOverwritten(step));
  });
  keptTime = step.time;
}

}  // namespace tributary
