// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkType.h>

#include <optional>
#include <string>
#include <vector>

#include "Paths/PathSteps.h"
#include "Time/CheckpointUse.h"

#include "Tributary/Base/Span.h"

namespace tributary {

/// The steps of a window that begins at the first one and grows with each further one, until it has
/// its whole length. Particles are kept at the last step only, so an earlier time begins anew.
struct GrowingSteps : PathSteps {
  double duration = 1;  ///< Of the whole window, positive.
  CheckpointUse checkpoints{"flowmap"};
  bool isSingle = false;  ///< The input has one time step; not that of a simulation so far.
  /// If no step is needed: the time of the data that the input has now.
  std::optional<double> idleTime;

  /// Where the window begins. @pre a step was added
  double begin() const { return plan.added().front(); }
  /// Where it ends when it is complete. @pre a step was added
  double end() const { return begin() + duration; }
  /// Whether the steps that were added cover the whole window.
  bool isComplete() const { return !plan.added().empty() && plan.added().back() >= end(); }

  /// The time to request of the input. @pre !plan.steps().empty()
  double timeOfNext() const { return idleTime.value_or(plan.steps()[plan.next()]); }

  /// Local. Plans the executions for a time. Parameters are those of PathSteps::planFor().
  /// @param length  of the window
  void planFor(Span<const double> steps, double time, double length, Basis basis,
               const std::vector<vtkMTimeType>& times, bool isWhole);
  /// Local. Finds the checkpoint to resume, if the first execution follows. Call it after
  /// planFor().
  void planToResume(const std::string& directory);
};

}  // namespace tributary
