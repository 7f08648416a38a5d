// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Lines/DomainFromVTK.h"
#include "Lines/LineOutput.h"
#include "Lines/LineTable.h"
#include "Lines/PointEvaluator.h"

#include "Tributary/Advection/Tracer.h"
#include "Tributary/Base/Bytes.h"
#include "Tributary/Collective/Shares.h"

namespace tributary {

/// Local. Evaluates all points recorded on this rank: those of its own lines go to their places in
/// the output, the others into a message to each rank.
/// @param shares  of the seeds: who has which lines
/// @param messages  Out: one for each rank, empty for this one
/// @return how many went to their places
std::int64_t placeRecorded(const PointEvaluator& evaluator, const FlowDomain& flow,
                           const TraceResult& traced, const LineTable& table, const Shares& shares,
                           int rank, LineArrays& output, std::vector<Bytes>& messages);

/// Local. Writes the points of one message to their places. Throws Error if it is malformed.
/// @return how many had one
std::int64_t placeReceived(const Bytes& message, const std::vector<PointField>& fields,
                           const LineTable& table, LineArrays& output);

}  // namespace tributary
