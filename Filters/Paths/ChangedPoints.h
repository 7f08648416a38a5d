// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "Lines/LineOutput.h"
#include "Lines/LineTable.h"
#include "Lines/PointEvaluator.h"
#include "Paths/IntervalTrace.h"

#include "Tributary/Advection/MeshChange.h"
#include "Tributary/Collective/Shares.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Collective. As collectPoints(), where the mesh changes in the interval: the values of a point are
/// linear in time between those in the two meshes. At a step they are those in the mesh of the
/// step.
/// @param field  with a later domain
/// @param evaluator  of the earlier step
/// @param laterEvaluator  of the later step, with the same fields
/// @param traced  its logs of the later mesh are moved away
/// @throws Error on all ranks if points are missing or a message is malformed
[[nodiscard]] std::unique_ptr<LineArrays> collectChangedPoints(
    Transport& transport, const IntervalField& field, const PointEvaluator& evaluator,
    const PointEvaluator& laterEvaluator, const Shares& shares, const LineTable& table,
    MeshChangeTrace& traced);

}  // namespace tributary
