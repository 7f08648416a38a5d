// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "Tributary/Advection/Events.h"

namespace tributary {

/// Local. The events that texts describe: see vtkAsyncStreamTracer::AddEvent().
/// @param hasSurface  whether there is a surface for events: one of the events, at whose first
///                    crossing lines end, unless a text describes another one
/// @throws Error if a text does not describe an event, or if there are too many
[[nodiscard]] EventList parseEvents(const std::vector<std::string>& texts, bool hasSurface);

}  // namespace tributary
