// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "Tributary/Advection/Events.h"

namespace tributary {

/// An array of the input whose values are the function of events.
struct EventArray {
  std::string name;
  bool isLabel = false;  ///< Whether its values are labels, which are not interpolated.
  std::string text;      ///< Of the first event of the array.
};

/// Local. The events that texts describe: see vtkAsyncLineAlgorithm::AddEvent().
/// @param arrays  Out: those of events, by Event::field
/// @param hasSurface  whether there is a surface for events: one of the events, at whose first
///                    crossing lines end, unless a text describes another one
/// @throws Error if a text does not describe an event, or if there are too many
[[nodiscard]] EventList parseEvents(const std::vector<std::string>& texts,
                                    std::vector<EventArray>& arrays, bool hasSurface);

}  // namespace tributary
