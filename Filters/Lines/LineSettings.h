// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "Lines/Crossings/EventText.h"
#include "Periodic/PeriodicAxes.h"
#include "Velocity/VelocityForm.h"

#include "Tributary/Advection/StepRules.h"
#include "Tributary/Exchange/Exchange.h"

namespace tributary {

/// The properties of vtkAsyncParticleAlgorithm that one execution needs; see there.
struct TraceSettings {
  VelocityForm velocity;
  StepRules rules;  ///< Without what the run derives from the input.
  PeriodicSettings periodic = {};
  int blocksPerRank = 1;
  bool keepDomain = false;        ///< Whether the next execution may reuse the domain of this one.
  std::size_t lendingMemory = 0;  ///< In bytes; 0 for no lending.
  ExchangeOptions exchange;
  bool autoTune = false;
};

/// The properties of vtkAsyncLineAlgorithm that one execution needs; see there.
struct LineSettings : TraceSettings {
  bool computeVorticity = true;
  double rotationScale = 1;
  std::set<std::string> pointArrays = {};    ///< Those that lines carry; all if it is empty.
  std::vector<EventArray> eventArrays = {};  ///< Those of events, by Event::field.
  std::string surfaceLabels = {};  ///< The array of the cells of the surface; empty for none.
  bool crossingsOnly = false;
};

}  // namespace tributary
