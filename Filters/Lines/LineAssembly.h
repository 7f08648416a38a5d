// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkPolyData.h>
#include <vtkSmartPointer.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "Lines/DomainFromVTK.h"
#include "Lines/LineOutput.h"
#include "Lines/LineTable.h"
#include "Lines/PointArrays.h"
#include "Lines/PointEvaluator.h"
#include "Lines/PointTransfer.h"
#include "Lines/SeedsFromVTK.h"

#include "Tributary/Advection/Tracer.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Shares.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Collective. Fills the point arrays of this rank. Each recorded point is evaluated on the rank
/// that recorded it, sent to the rank of its line, and written to its position there: see
/// assembleLines().
/// @param shares  of the seeds; they define the rank of each line
/// @param table  of the lines of this rank
/// @param mayLack  whether points may not have been recorded: their times are NaN. Those that do
///                 not belong to the lines are left out.
/// @throws Error on all ranks if points are missing or a message is malformed
[[nodiscard]] std::unique_ptr<LineArrays> collectPoints(
    Transport& transport, const FlowDomain& flow, const PointEvaluator& evaluator,
    const Shares& shares, const LineTable& table, const TraceResult& traced, bool mayLack = false);

/// Collective. The same for some of the points that this rank recorded, in one exchange.
/// @param errors  receives those of the exchange; the caller agrees on them
/// @return the number of points written on this rank
[[nodiscard]] std::int64_t transferPoints(Transport& transport, const PointEvaluator& evaluator,
                                          Span<const PointGroup> groups, const LineTable& table,
                                          const Shares& shares, LineArrays& output,
                                          ErrorCollector& errors);

/// Collective. Assembles the lines of this rank. Each recorded point is evaluated (interpolated
/// arrays, vorticity) on the rank that recorded it, in a block or in a copy of one, sent in one
/// compact record to the rank of its line, and written to its position there. That rank computes
/// the arrays that depend on the whole line (rotation, normals). On one rank, points are written to
/// their positions directly.
/// @param evaluator  that of the trace, if blocks were lent
/// @param withFrames  whether to add Rotation and Normals
/// @throws Error on all ranks if points are missing or a message is malformed
[[nodiscard]] vtkSmartPointer<vtkPolyData> assembleLines(
    Transport& transport, const FlowDomain& flow, const PointEvaluator& evaluator,
    const PointArrayList& arrays, const SeedList& seeds, LineTable& table,
    const TraceResult& traced, bool withFrames);

}  // namespace tributary
