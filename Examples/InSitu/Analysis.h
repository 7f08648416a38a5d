// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ChannelFlow.h"

/// What the simulation tells about a step, beside its fields.
struct StepInformation {
  double time = 0;
  std::int64_t step = 0;       ///< the number of the output, from 0
  double solverSeconds = 0;    ///< of this rank since the previous output
  bool writesRestart = false;  ///< whether a restart file of this step is written
};

/// What is executed in situ after some of the steps of the simulation. The solver knows nothing
/// else about it, so that another implementation, such as one of the Catalyst API with Conduit, can
/// replace this one.
class Analysis {
 public:
  virtual ~Analysis() = default;
  /// Collective.
  /// @param fields  makes the fields; called only if they are needed. Collective.
  virtual void execute(const StepInformation& information,
                       const std::function<FlowFields()>& fields) = 0;
};

/// Collective. ParaView's Catalyst with Python scripts.
/// @param folder  to which the scripts write
/// @throws std::runtime_error if a script cannot be loaded
[[nodiscard]] std::unique_ptr<Analysis> makeCatalystAnalysis(
    const std::vector<std::string>& scripts, const std::string& folder);
