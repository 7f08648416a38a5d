// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkPolyData.h>
#include <vtkSmartPointer.h>

#include <cstdint>
#include <vector>

#include "Lines/DomainFromVTK.h"
#include "Lines/LineTable.h"
#include "Lines/PointArrays.h"
#include "Lines/SeedsFromVTK.h"

#include "Tributary/Advection/Tracer.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

struct AssemblySettings {
  StepRules rules;
  bool computeVorticity = true;
  double rotationScale = 1;
};

/// Collective. Makes this rank's lines. Each recorded point is evaluated (interpolated arrays,
/// vorticity) on the rank whose block recorded it, sent to the rank of its line in one compact
/// record, and written to its place. That rank computes the arrays that depend on the whole line
/// (rotation, normals). On one rank the points are written to their places directly.
/// Throws Error on all ranks if points are missing or a message is malformed.
[[nodiscard]] vtkSmartPointer<vtkPolyData> assembleLines(Transport& transport,
                                                         const FlowDomain& flow,
                                                         const PointArrayList& arrays,
                                                         const SeedList& seeds, LineTable& table,
                                                         const TraceResult& traced,
                                                         const AssemblySettings& settings);

}  // namespace tributary
