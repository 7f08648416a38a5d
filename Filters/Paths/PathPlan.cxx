// SPDX-License-Identifier: BSD-3-Clause
#include "Paths/PathPlan.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <sstream>
#include <utility>

#include "Time/StepTimes.h"

#include "Tributary/Base/Error.h"

namespace tributary {

void PathPlan::plan(Span<const double> steps, double time, bool canContinue) {
  const std::size_t before = steps_.size();
  const std::vector<double> reported = distinctTimes(steps);
  requested_ = time;
  isResumed_ = mustLoad_ = false;
  if (canContinue) {
    steps_ = withoutPassedOver(reported);
    // In situ, added times are those of the data.
    canContinue = steps_.empty() ? before == 0 : before > 0 && isBeginningOf(added_, steps_);
  }
  if (!canContinue) {
    steps_ = reported;
    added_.clear();
    past_.clear();
    loaded_.reset();
    passedOver_.clear();
    lastExecuted_ = 0;
  }
  // In situ, where no time is requested, a new step is meant.
  aim(time, before > 0 && steps_.size() > before);
}

/// The resumed steps that are not reported, and those reported that were not passed over.
std::vector<double> PathPlan::withoutPassedOver(const std::vector<double>& reported) const {
  std::vector<double> steps;
  if (!reported.empty()) steps = past_;
  for (const double step : reported)
    if (passedOver_.count(step) == 0) steps.push_back(step);
  return steps;
}

/// Chooses the steps to execute for a time.
/// @param wantsLast  whether the last step is meant if no time is requested
void PathPlan::aim(double time, bool wantsLast) {
  isExact_ = true;
  first_ = next_ = goal_ = 0;
  if (steps_.empty()) return;
  if (!std::isnan(time)) {
    const auto at = std::lower_bound(steps_.begin(), steps_.end(), time);
    goal_ = std::min(static_cast<std::size_t>(at - steps_.begin()), steps_.size() - 1);
    isExact_ = time <= steps_.front() || time >= steps_[goal_];
    between_ = time;
  } else if (wantsLast) {
    goal_ = steps_.size() - 1;
  } else if (!added_.empty()) {
    goal_ = added_.size() - 1;
  }
  // The data of the last step to add are traced to, or those of the step before `time`. A
  // simulation that was restarted has those of the last step only now.
  mustLoad_ = isResumed_ && isExact_ && goal_ + 1 == added_.size();
  const std::size_t from = isExact_ ? added_.size() : std::min(added_.size(), goal_);
  if (isDone())
    next_ = std::min(lastExecuted_, steps_.size() - 1);  // whose data the input still has
  else
    next_ = from == 0 || loaded_ == from - 1 ? from : from - 1;
  first_ = next_;
}

bool PathPlan::planToResume(const std::vector<double>& added, const std::set<double>& passedOver) {
  if (added.empty()) return false;
  std::vector<double> kept = added, past;
  if (!steps_.empty()) {
    std::vector<double> reported;  // without those that were passed over
    for (const double step : steps_)
      if (passedOver.count(step) == 0) reported.push_back(step);
    if (reported.empty()) return false;
    const std::optional<std::size_t> before = timesBefore(added, reported);
    if (!before) return false;
    kept.resize(std::min(added.size(), *before + reported.size()));
    past = added;
    past.resize(*before);
  }
  added_ = std::move(kept);
  past_ = std::move(past);
  passedOver_.clear();
  passedOver_.insert(passedOver.begin(), passedOver.upper_bound(added_.back()));
  if (!steps_.empty()) steps_ = withoutPassedOver(steps_);
  loaded_.reset();
  isResumed_ = true;
  aim(requested_, false);
  return true;
}

void PathPlan::rewind(double time) {
  if (!steps_.empty() || !isResumed_ || !(time >= added_.front())) return;
  const auto at = std::lower_bound(added_.begin(), added_.end(), time);
  if (at == added_.end() || *at != time) {
    std::ostringstream text;
    text << "the checkpoint has no particles at the time " << time
         << "; begin the run that resumes "
         << "at the time " << *std::prev(at) << ", or switch Resume off";
    throw Error(text.str());
  }
  added_.erase(std::next(at), added_.end());
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
  isResumed_ = mustLoad_ = false;
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
