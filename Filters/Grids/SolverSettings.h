// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "Tributary/Iteration/Iteration.h"

namespace tributary {

/// The properties of vtkAsyncSolverAlgorithm that one execution needs; see there.
struct SolverSettings {
  IterationMode mode = IterationMode::Asynchronous;
  ConvergenceDetection detection = ConvergenceDetection::SnapshotReduction;
  std::int64_t iterationLimit = 1;
  int sweepsPerExchange = 1;

  /// Sets the options that correspond to the properties.
  void apply(IterationOptions& options) const {
    options.mode = mode;
    options.detection = detection;
    options.iterationLimit = iterationLimit;
  }
};

}  // namespace tributary
