// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataObject.h>
#include <vtkSmartPointer.h>
#include <vtkType.h>
#include <functional>

#include <utility>
#include <vector>

#include "Common/PropertyList.h"
#include "Paths/IntervalDomain.h"
#include "Paths/PathPlan.h"

#include "Tributary/Base/Span.h"
#include "Tributary/Transport/Transport.h"

class vtkAlgorithm;

namespace tributary {

/// The steps that a filter adds one after the other, and the data of the last one that it executed.
struct PathSteps {
  /// The properties and the inputs, which must be the same for all steps.
  struct Basis {
    PropertyList properties;
    std::vector<std::pair<const vtkAlgorithm*, int>> inputs;  ///< By port.

    bool operator==(const Basis& other) const {
      return properties == other.properties && inputs == other.inputs;
    }
  };

  /// The step of an execution.
  struct Next {
    StepData step;
    PathPlan::Task task = PathPlan::Task::Nothing;
    bool isPassedOver = false;  ///< The input is not at the requested time, and later steps follow.
    bool hasTime = true;        ///< The input has time steps, or its data a time.
  };

  PathPlan plan;
  Basis begun;      ///< Of the steps added so far.
  Basis requested;  ///< Of the next step.
  /// The last modification of each input's pipeline, when the last execution ended.
  std::vector<vtkMTimeType> inputTimes;

  vtkSmartPointer<vtkDataObject> kept;  ///< The data of the last step executed.
  double keptTime = 0;                  ///< Their time.

  /// Local. Plans the executions for a time. Parameters are those of PathPlan::plan().
  /// @param times  when each input's pipeline was last modified
  /// @param isWhole  whether the last execution neither failed nor was aborted
  void planFor(Span<const double> steps, double time, Basis basis,
               const std::vector<vtkMTimeType>& times, bool isWhole);
  /// Collective. The step that was executed, and what to do with it.
  /// @throws Error on all ranks if its data are those of another time, and are needed
  [[nodiscard]] Next next(Transport& transport, vtkDataObject* input);
  /// Local. Whether a simulation may overwrite the data of a step.
  [[nodiscard]] bool isOverwritten(const StepData& step) const {
    return plan.steps().empty() || step.time == plan.steps().back();
  }
  /// Collective. Keeps the data of a step for the interval after it, in place of those before. So
  /// there are never three steps in memory.
  /// @param further  local work with the same agreement on errors; may be empty
  void keep(Transport& transport, const StepData& step, const std::function<void()>& further = {});
};

}  // namespace tributary
