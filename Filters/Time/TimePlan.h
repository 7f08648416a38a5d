// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "Tributary/Base/Span.h"

namespace tributary {

/// Decides which time steps of the input a filter executes so that its outputs are those of a
/// requested time: all steps up to it that it has not added yet. Local; does not communicate.
///
/// If the input reports no time steps (in situ), each execution adds the step of the data: a later
/// time is the next step, the same time replaces the last step, and an earlier time begins with a
/// first step again.
class TimePlan {
 public:
  /// How an execution begins.
  enum class Start {
    First,  ///< With a first step: nothing is kept.
    Next,   ///< With the step after the last one.
    Again   ///< With the last step, which is added again.
  };

  /// Plans the executions up to a time.
  /// @param steps        times that the input reports, ascending; may repeat the first one
  /// @param time         requested; NaN if none is
  /// @param canContinue  whether the steps added so far can be kept
  void plan(Span<const double> steps, double time, bool canContinue);

  /// The time steps of the input, each once, after resumed ones that it does not report any more;
  /// empty in situ.
  const std::vector<double>& steps() const { return steps_; }
  /// Index of the first step to execute for the requested time.
  std::size_t first() const { return first_; }
  /// Index of the step to execute next. @pre !steps().empty()
  std::size_t next() const { return next_; }
  /// Index of the last step to execute.
  std::size_t goal() const { return goal_; }
  /// Whether the next execution begins with a first step.
  bool beginsAnew() const { return beginsAnew_; }
  /// Time of the last step added.
  double lastTime() const { return lastTime_; }
  /// The time steps of the input that have been executed.
  const std::vector<double>& executed() const { return executed_; }

  /// How the execution at a time begins. Forgets the executed steps if it is a first one.
  [[nodiscard]] Start start(double time);

  /// Whether a checkpoint after some time steps of the input fits to the steps planned. The input
  /// need not report the first of these (a simulation that was restarted) if the requested time is
  /// not before the checkpoint.
  [[nodiscard]] bool fits(const std::vector<double>& executed) const;
  /// Whether the requested time is not before a checkpoint. Plans to continue from it.
  /// @pre fits(executed)
  [[nodiscard]] bool planToResume(const std::vector<double>& executed);
  /// Continues from a checkpoint.
  /// @param executed  its time steps of the input
  /// @param lastTime  of its last step
  /// @param time      of the execution
  [[nodiscard]] Start resume(const std::vector<double>& executed, double lastTime, double time);

  /// Notes that a step was added. Call it before advance().
  void add(double time) { lastTime_ = time; }
  /// Notes that a time step of the input was executed, added or not.
  /// @return whether further executions are needed
  [[nodiscard]] bool advance();

 private:
  void aim(const std::vector<double>& reported, double time, bool wantsLast);

  std::vector<double> executed_;
  std::vector<double> past_;  // resumed steps before those that the input reports
  std::vector<double> steps_;
  std::size_t first_ = 0;
  std::size_t next_ = 0;
  std::size_t goal_ = 0;
  double lastTime_ = 0;
  bool beginsAnew_ = true;
};

}  // namespace tributary
