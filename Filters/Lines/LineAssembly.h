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

/// Collective. Makes this rank's lines: every recorded point is evaluated on the rank whose block
/// recorded it (interpolated arrays, vorticity), travels to the rank of its line in one compact
/// record and is written to its place; what needs the whole line (rotation, normals) is computed
/// there. With one rank the points are written to their places at once.
vtkSmartPointer<vtkPolyData> assembleLines(Transport& transport, const FlowDomain& flow,
                                           const PointArrayList& arrays, const SeedList& seeds,
                                           LineTable& table, const TraceResult& traced,
                                           const AssemblySettings& settings);

}  // namespace tributary
