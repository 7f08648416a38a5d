// SPDX-License-Identifier: BSD-3-Clause
#include "Time/TimePlan.h"

#include <algorithm>
#include <cmath>

#include "Time/StepTimes.h"

namespace tributary {

void TimePlan::plan(Span<const double> steps, double time, bool canContinue) {
  const std::size_t before = steps_.size();
  steps_ = distinctTimes(steps);
  goal_ = 0;
  while (goal_ + 1 < steps_.size() && steps_[goal_ + 1] <= time) ++goal_;
  // In situ, where no time is requested, a new step is meant.
  if (std::isnan(time) && before > 0 && steps_.size() > before) goal_ = steps_.size() - 1;
  const std::size_t count = executed_.size();
  beginsAnew_ =
      !canContinue || !isBeginningOf(executed_, steps_) || (!steps.empty() && goal_ < count);
  first_ = next_ = beginsAnew_ ? 0 : count;
}

TimePlan::Start TimePlan::start(double time) {
  if (beginsAnew_ || (steps_.empty() && time < lastTime_)) {
    executed_.clear();
    beginsAnew_ = false;
    return Start::First;
  }
  return steps_.empty() && time == lastTime_ ? Start::Again : Start::Next;
}

bool TimePlan::fits(const std::vector<double>& executed) const {
  return executed.empty() == steps_.empty() && isBeginningOf(executed, steps_);
}

bool TimePlan::planToResume(const std::vector<double>& executed) {
  if (goal_ + 1 < executed.size()) return false;
  first_ = next_ =
      std::min(executed.size(), goal_);  // the last step again if there is no later one
  return true;
}

TimePlan::Start TimePlan::resume(const std::vector<double>& executed, double lastTime,
                                 double time) {
  lastTime_ = lastTime;
  const bool isAgain = steps_.empty() ? time == lastTime : next_ < executed.size();
  executed_ = executed;
  executed_.resize(next_);
  return isAgain ? Start::Again : Start::Next;
}

bool TimePlan::advance() {
  if (steps_.empty()) return false;
  executed_.push_back(steps_[next_]);
  return next_++ < goal_;
}

}  // namespace tributary
