// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "Tributary/Iteration/Iteration.h"

namespace tributary {

/// The properties of vtkAsyncSolverAlgorithm that one execution needs; see there.
struct SolverSettings {
  IterationSchedule schedule = IterationSchedule::Asynchronous;
  ConvergenceDetection convergenceDetection = ConvergenceDetection::SnapshotReduction;
  std::int64_t iterationLimit = 1;
  int sweepsPerExchange = 1;

  /// Sets the options that correspond to the properties.
  void apply(IterationOptions& options) const {
    options.schedule = schedule;
    options.convergenceDetection = convergenceDetection;
    options.iterationLimit = iterationLimit;
  }
};

}  // namespace tributary
