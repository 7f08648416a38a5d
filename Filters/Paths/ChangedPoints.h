// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "Lines/LineOutput.h"
#include "Lines/LineTable.h"
#include "Lines/PointArrays.h"
#include "Lines/PointEvaluator.h"
#include "Paths/IntervalTrace.h"

#include "Tributary/Advection/MeshChange.h"
#include "Tributary/Advection/StepRules.h"
#include "Tributary/Collective/Shares.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Local. The rules for an evaluator of one step in an interval in which the mesh changes: with a
/// field that stays as it is at the beginning.
[[nodiscard]] StepRules rulesOfStep(const StepRules& rules);

/// Local. The list for such an evaluator, whose values are rounded later, once.
[[nodiscard]] PointArrayList asDoubles(PointArrayList list);

/// Collective. As collectPoints(), where the mesh changes in the interval: the values of a point
/// are linear in time between those in the two meshes. At a step they are those in the mesh of the
/// step.
/// @param field  with a later domain
/// @param evaluator  of the earlier step, with rulesOfStep() and asDoubles()
/// @param laterEvaluator  of the later step, with the same fields
/// @param list  the arrays with the types of the result
/// @param traced  its logs of the later mesh are moved away
/// @throws Error on all ranks if points are missing or a message is malformed
[[nodiscard]] std::unique_ptr<LineArrays> collectChangedPoints(
    Transport& transport, const IntervalField& field, const PointEvaluator& evaluator,
    const PointEvaluator& laterEvaluator, const PointArrayList& list, const Shares& shares,
    const LineTable& table, MeshChangeTrace& traced);

}  // namespace tributary
