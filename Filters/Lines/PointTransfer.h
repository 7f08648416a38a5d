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

/// Local. Evaluates all points recorded on this rank. Points of this rank's lines are written to
/// their positions in the output; the other points are added to the messages to the ranks of their
/// lines.
/// @param shares  of the seeds; they define the rank of each line
/// @param messages  output: one for each rank, empty for this rank
/// @return the number of points written to the output
std::int64_t placeRecorded(const PointEvaluator& evaluator, const FlowDomain& flow,
                           const TraceResult& traced, const LineTable& table, const Shares& shares,
                           int rank, LineArrays& output, std::vector<Bytes>& messages);

/// Local. Writes the points of a message to their positions in the output.
/// @return the number of points written
/// @throws Error if the message is malformed
std::int64_t placeReceived(const Bytes& message, const std::vector<PointField>& fields,
                           const LineTable& table, LineArrays& output);

}  // namespace tributary
