// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "Tributary/Base/Span.h"

namespace tributary {

/// Decides which time steps of the input the map of a window of time needs, and which of them are
/// executed. Local; does not communicate.
///
/// An input with less than two time steps is steady: the window may be anywhere.
class FlowMapPlan {
 public:
  /// Plans the executions for a window.
  /// @param steps     times that the input reports, ascending; may repeat the first one
  /// @param time      where the window begins; NaN: at the first step, or at the last one if
  ///                  `duration` is negative
  /// @param duration  of the window; negative if particles are traced backward in time
  /// @param isKept    whether the data of a step are kept
  void plan(Span<const double> steps, double time, double duration,
            const std::function<bool(double time)>& isKept);

  /// The time steps of the input, each once; empty in situ.
  const std::vector<double>& steps() const { return steps_; }
  bool isSteady() const { return steps_.size() < 2; }
  /// Sets the time of a steady input, where the window begins if no time was requested.
  void setTime(double time);
  /// Where the window begins: the requested time, or the nearest one that the steps cover.
  double begin() const { return begin_; }
  /// Where the window ends. May be begin(), if no step follows.
  double end() const { return end_; }
  /// Whether the steps end before the window.
  bool isCut() const { return isCut_; }
  /// The steps that the window needs, in the order in which particles pass them.
  const std::vector<double>& path() const { return path_; }
  /// The number of steps to execute for the window.
  std::size_t reads() const { return reads_.size(); }

  /// Whether the next execution is for a step of the window. Otherwise its data are not needed.
  bool isReading() const { return next_ < reads_.size(); }
  /// The time step to execute next. @pre !steps().empty()
  double next() const;
  /// Notes that an execution has ended. @return whether further executions are needed
  [[nodiscard]] bool advance();

 private:
  std::vector<double> steps_;
  std::vector<double> path_;
  std::vector<double> reads_;
  std::size_t next_ = 0;
  double begin_ = 0;
  double end_ = 0;
  double lastExecuted_ = 0;
  bool hasExecuted_ = false;
  bool hasTime_ = false;  // requested
  bool isCut_ = false;
};

}  // namespace tributary
