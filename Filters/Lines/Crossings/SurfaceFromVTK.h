// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataObject.h>

#include <memory>
#include <string>

#include "Common/DataVersion.h"
#include "Common/RunStatistics.h"

#include "Tributary/Advection/Events.h"
#include "Tributary/Advection/Targets/EventSurface.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// The surface of events, and what it was made of.
struct SurfaceTarget {
  int rank = 0, ranks = 1;
  DataVersion input;
  std::string labels;
  std::unique_ptr<EventSurface> surface;
  bool isReused = false;  ///< Whether it was made by an execution before.
};

/// Collective. The triangles of the polygons and strips of all ranks, on each rank; ghost cells are
/// left out. It does not depend on how they are distributed. Labels are the values of an array of
/// cells, or else the numbers of blocks, which are counted from 1, in order, nested ones included
/// and pieces not.
/// @param input  poly data or a composite of it, or null
/// @param labels  the name of the array; empty for none
/// @param kept  of the execution before, or null: it is returned if it is of the same data on all
///              ranks
/// @throws Error on all ranks if the data of any rank are no surface
[[nodiscard]] std::shared_ptr<SurfaceTarget> gatherSurface(Transport& transport,
                                                           vtkDataObject* input,
                                                           const std::string& labels,
                                                           std::shared_ptr<SurfaceTarget> kept);

/// Local. Gives events at surfaces their surface, which must outlive the trace.
void setSurface(EventList& events, const SurfaceTarget& target);

/// Local. Adds the size of the surface.
void addSurface(const SurfaceTarget& target, RunStatistics& statistics);

}  // namespace tributary
