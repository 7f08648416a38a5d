// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkPolyData.h>
#include <vtkSmartPointer.h>

#include "Lines/DomainFromVTK.h"
#include "Lines/LineTable.h"
#include "Lines/PointArrays.h"
#include "Lines/PointEvaluator.h"
#include "Lines/SeedsFromVTK.h"

#include "Tributary/Advection/Tracer.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Local. Crossings without a point, with the arrays of those that assembleCrossings() returns.
[[nodiscard]] vtkSmartPointer<vtkPolyData> noCrossings(const Transport& transport,
                                                       const PointEvaluator& evaluator,
                                                       const PointArrayList& arrays,
                                                       const SeedList& seeds,
                                                       CrossingContent content);

/// Collective. The crossings of events by the lines of this rank's seeds, ordered by seed, forward
/// before backward, and along each line. Like the points of lines, each is evaluated on the rank
/// that recorded it.
/// @param table  of the lines of this rank
/// @param content  that of the trace: with All, crossings have the arrays of `evaluator`; with
///                 Positions, those of a line and direction are one cell, and nothing else is
///                 output
/// @param traced  its crossings are taken out, so that their memory serves for the output
/// @throws Error on all ranks if a crossing is missing or a message is malformed
[[nodiscard]] vtkSmartPointer<vtkPolyData> assembleCrossings(
    Transport& transport, const FlowDomain& flow, const PointEvaluator& evaluator,
    const PointArrayList& arrays, const SeedList& seeds, const LineTable& table,
    CrossingContent content, TraceResult& traced);

}  // namespace tributary
