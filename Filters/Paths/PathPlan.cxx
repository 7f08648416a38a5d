// SPDX-License-Identifier: BSD-3-Clause
#include "Paths/PathPlan.h"

#include <algorithm>
#include <cmath>

#include "Time/StepTimes.h"

namespace tributary {

void PathPlan::plan(Span<const double> steps, double time, bool canContinue) {
  const std::size_t before = steps_.size();
  steps_ = distinctTimes(steps);
  const auto isPassedOver = [&](double step) { return passedOver_.count(step) > 0; };
  if (canContinue) {
    steps_.erase(std::remove_if(steps_.begin(), steps_.end(), isPassedOver), steps_.end());
    // In situ, added times are those of the data.
    canContinue = steps_.empty() ? before == 0 : before > 0 && isBeginningOf(added_, steps_);
  }
  if (!canContinue) {
    steps_ = distinctTimes(steps);
    added_.clear();
    loaded_.reset();
    passedOver_.clear();
    lastExecuted_ = 0;
  }
  isExact_ = true;
  first_ = next_ = goal_ = 0;
  if (steps_.empty()) return;
  if (!std::isnan(time)) {
    const auto at = std::lower_bound(steps_.begin(), steps_.end(), time);
    goal_ = std::min(static_cast<std::size_t>(at - steps_.begin()), steps_.size() - 1);
    isExact_ = time <= steps_.front() || time >= steps_[goal_];
    between_ = time;
  } else if (before > 0 && steps_.size() > before) {
    goal_ = steps_.size() - 1;  // in situ, where no time is requested, a new step is meant
  } else if (!added_.empty()) {
    goal_ = added_.size() - 1;
  }
  // The data of the last step to add are traced to, or those of the step before `time`.
  const std::size_t from = isExact_ ? added_.size() : std::min(added_.size(), goal_);
  if (isDone())
    next_ = std::min(lastExecuted_, steps_.size() - 1);  // whose data the input still has
  else
    next_ = from == 0 || loaded_ == from - 1 ? from : from - 1;
  first_ = next_;
}

std::size_t PathPlan::needed() const {
  return steps_.empty() ? added_.size() : isExact_ ? goal_ + 1 : goal_;
}

double PathPlan::outputTime() const {
  return steps_.empty() ? (added_.empty() ? 0 : added_.back())
         : isExact_     ? steps_[goal_]
                        : between_;
}

PathPlan::Task PathPlan::task(double time) const {
  if (steps_.empty())
    return added_.empty() || time < added_.back() ? Task::First
           : time > added_.back()                 ? Task::Advance
                                                  : Task::Load;
  if (isDone()) return Task::Nothing;
  if (!isExact_ && next_ == goal_) return Task::Part;
  if (next_ < added_.size()) return Task::Load;
  return next_ == 0 ? Task::First : Task::Advance;
}

bool PathPlan::advance(Task task, double time) {
  if (task == Task::First) added_.clear();
  if (task == Task::First || task == Task::Advance) added_.push_back(time);
  if (steps_.empty()) return false;
  lastExecuted_ = next_;
  if (task == Task::Nothing) return false;
  if (task != Task::Part) loaded_ = next_;
  return next_++ < goal_;
}

void PathPlan::passOver() {
  passedOver_.insert(steps_[next_]);
  steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(next_));
  --goal_;
}

}  // namespace tributary
