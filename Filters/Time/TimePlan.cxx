// SPDX-License-Identifier: BSD-3-Clause
#include "Time/TimePlan.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "Time/StepTimes.h"

namespace tributary {

void TimePlan::plan(Span<const double> steps, double time, bool canContinue) {
  const std::vector<double> reported = distinctTimes(steps);
  const std::size_t before = steps_.size() - past_.size();
  // In situ, where no time is requested, a new step is meant.
  const bool wantsLast = std::isnan(time) && before > 0 && reported.size() > before;
  aim(reported, time, wantsLast);
  const std::size_t count = executed_.size();
  beginsAnew_ =
      !canContinue || !isBeginningOf(executed_, steps_) || (!steps_.empty() && goal_ < count);
  if (beginsAnew_ && !past_.empty()) {
    past_.clear();
    aim(reported, time, wantsLast);
  }
  first_ = next_ = beginsAnew_ ? 0 : count;
}

/// Chooses the last step to execute for a time, of those resumed and those reported.
void TimePlan::aim(const std::vector<double>& reported, double time, bool wantsLast) {
  steps_ = past_;
  steps_.insert(steps_.end(), reported.begin(), reported.end());
  goal_ = 0;
  while (goal_ + 1 < steps_.size() && steps_[goal_ + 1] <= time) ++goal_;
  if (wantsLast) goal_ = steps_.size() - 1;
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
  if (executed.empty() || steps_.empty()) return executed.empty() && steps_.empty();
  const std::optional<std::size_t> past = timesBefore(executed, steps_);
  if (!past) return false;
  // Steps before those that the input reports cannot be executed to begin anew.
  const std::size_t count = *past > 0 ? goal_ + 1 : steps_.size();
  return executed.size() <= *past + count;
}

bool TimePlan::planToResume(const std::vector<double>& executed) {
  const std::size_t past = steps_.empty() ? 0 : timesBefore(executed, steps_).value_or(0);
  if (past + goal_ + 1 < executed.size()) return false;
  past_ = executed;
  past_.resize(past);
  steps_.insert(steps_.begin(), past_.begin(), past_.end());
  goal_ += past;
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
