// SPDX-License-Identifier: BSD-3-Clause
#include "FlowMap/FlowMapPlan.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "Time/StepTimes.h"

namespace tributary {

void FlowMapPlan::plan(Span<const double> steps, double time, double duration,
                       const std::function<bool(double time)>& isKept) {
  steps_ = distinctTimes(steps);
  path_.clear();
  reads_.clear();
  next_ = 0;
  isCut_ = false;
  hasTime_ = !std::isnan(time);
  if (isSteady()) {
    begin_ = hasTime_ ? time : steps_.empty() ? 0 : steps_.front();
    end_ = begin_ + duration;
    path_ = reads_ = steps_;
    return;
  }
  const bool isForward = duration > 0;
  const double first = steps_.front(), last = steps_.back();
  begin_ = hasTime_ ? std::clamp(time, first, last) : isForward ? first : last;
  end_ = std::clamp(begin_ + duration, first, last);
  isCut_ = end_ != begin_ + duration;
  // The steps around the window, both included.
  const double low = std::min(begin_, end_), high = std::max(begin_, end_);
  auto from = std::upper_bound(steps_.begin(), steps_.end(), low) - 1;
  auto to = std::lower_bound(steps_.begin(), steps_.end(), high);
  path_.assign(from, to + 1);
  if (!isForward) std::reverse(path_.begin(), path_.end());
  std::copy_if(path_.begin(), path_.end(), std::back_inserter(reads_),
               [&](double step) { return !isKept(step); });
}

void FlowMapPlan::setTime(double time) {
  if (hasTime_ || !isSteady()) return;
  end_ += time - begin_;
  begin_ = time;
}

double FlowMapPlan::next() const {
  if (isReading()) return reads_[next_];
  // The input still has the data of the last execution.
  const bool isStep = std::binary_search(steps_.begin(), steps_.end(), lastExecuted_);
  return hasExecuted_ && isStep ? lastExecuted_ : path_.back();
}

bool FlowMapPlan::advance() {
  if (!steps_.empty()) lastExecuted_ = next();
  hasExecuted_ = !steps_.empty();
  if (isReading()) ++next_;
  return isReading();
}

}  // namespace tributary
