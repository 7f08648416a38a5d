// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <vector>

#include "Tributary/Base/Span.h"

namespace tributary {

/// Decides which time steps of the input a path tracer executes for a requested time, and what it
/// does at each. Particles are kept at all steps that were added, and the data of one step, the
/// last one that was executed. Local; does not communicate.
///
/// A time between two steps needs the data of both. An earlier time needs no step again, unless it
/// lies between two.
///
/// If the input reports no time steps (in situ), each execution adds the step of the data: a later
/// time is the next step, the same time only replaces the data, and an earlier time begins with a
/// first step again.
class PathPlan {
 public:
  /// What an execution does with the data of its step.
  enum class Task {
    First,    ///< Injects particles: nothing is kept.
    Advance,  ///< Traces from the step before, which becomes an interval that is kept.
    Load,     ///< Keeps the data only.
    Part,     ///< Traces a part of the interval, for the output alone.
    Nothing   ///< The output needs no data.
  };

  /// Plans the executions for a time.
  /// @param steps        times that the input reports, ascending; may repeat the first one
  /// @param time         requested; NaN if none is
  /// @param canContinue  whether the steps added so far can be kept
  void plan(Span<const double> steps, double time, bool canContinue);

  /// Local. Plans to continue from particles that another process has kept. If the input does not
  /// report the first of the steps (a simulation that was restarted), these stay as they are. Steps
  /// that the input does not report, or not yet, are dropped from the end.
  /// @param added       the times of their steps
  /// @param passedOver  times of steps of the input that were passed over
  /// @return whether the steps that the input reports are among these or follow them; if not,
  ///         nothing is changed
  [[nodiscard]] bool planToResume(const std::vector<double>& added,
                                  const std::set<double>& passedOver);
  /// Local. In situ, after planToResume(): drops the steps after that of the first data.
  /// @throws Error if none of the steps has this time, and the first one is not later
  void rewind(double time);

  /// The time steps of the input, each once, without those that were passed over; empty in situ.
  const std::vector<double>& steps() const { return steps_; }
  /// Index of the step to execute next. @pre !steps().empty()
  std::size_t next() const { return next_; }
  /// Index of the first step to execute for the time.
  std::size_t first() const { return first_; }
  /// Index of the last step to execute.
  std::size_t goal() const { return goal_; }
  /// The times of the steps that were added.
  const std::vector<double>& added() const { return added_; }
  /// The times of the steps that were passed over.
  const std::set<double>& passedOver() const { return passedOver_; }
  /// The number of steps that were added and that the output needs.
  std::size_t needed() const;
  /// The time of the output.
  double outputTime() const;

  /// What the next execution does.
  /// @param time  of its data; only used in situ
  [[nodiscard]] Task task(double time) const;

  /// Notes that an execution has done its task.
  /// @param time  of the step
  /// @return whether further executions are needed
  [[nodiscard]] bool advance(Task task, double time);
  /// Notes that the input does not have the next step any more; others follow.
  /// @pre next() < goal()
  void passOver();

 private:
  bool isDone() const { return isExact_ && added_.size() > goal_ && !mustLoad_; }
  std::vector<double> withoutPassedOver(const std::vector<double>& reported) const;
  void aim(double time, bool wantsLast);

  std::vector<double> added_;
  std::vector<double> past_;           // resumed steps before those that the input reports
  std::optional<std::size_t> loaded_;  // the step whose data are kept
  std::set<double> passedOver_;
  std::vector<double> steps_;
  std::size_t first_ = 0;
  std::size_t next_ = 0;
  std::size_t goal_ = 0;
  std::size_t lastExecuted_ = 0;
  bool isExact_ = true;     // the output is at a step
  double between_ = 0;      // otherwise: its time
  double requested_ = 0;    // may be NaN
  bool isResumed_ = false;  // and no step was executed since then
  bool mustLoad_ = false;   // the last step, whose particles are known, must be loaded
};

}  // namespace tributary
