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

/// Collective. Assembles the lines of this rank. Each recorded point is evaluated (interpolated
/// arrays, vorticity) on the rank whose block recorded it, sent in one compact record to the rank
/// of its line, and written to its position there. That rank computes the arrays that depend on the
/// whole line (rotation, normals). On one rank, points are written to their positions directly.
/// @throws Error on all ranks if points are missing or a message is malformed
[[nodiscard]] vtkSmartPointer<vtkPolyData> assembleLines(Transport& transport,
                                                         const FlowDomain& flow,
                                                         const PointArrayList& arrays,
                                                         const SeedList& seeds, LineTable& table,
                                                         const TraceResult& traced,
                                                         const AssemblySettings& settings);

}  // namespace tributary
