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
#include "Tributary/Base/Span.h"
#include "Tributary/Collective/Records.h"
#include "Tributary/Collective/Shares.h"

namespace tributary {

/// Recorded points that one thread evaluates: few enough for the cache.
struct PointGroup {
  const FieldBlock* block;
  Span<const TrajectoryPoint> points;  ///< At most 8192.
};

/// Local. All points recorded on this rank.
/// @param traced  must outlive the groups, like `flow`
[[nodiscard]] std::vector<PointGroup> makeGroups(const FlowDomain& flow, const TraceResult& traced);

// The following functions throw an Error of kind Aborted if the transport is interrupted.

/// Local. Evaluates points recorded on this rank. Points of this rank's lines are written to their
/// positions in the output; the other points are added to the messages to the ranks of their lines.
/// Consecutive points of a line are evaluated, sent and written together.
/// @param shares  of the seeds; they define the rank of each line
/// @param outbox  empty at first; receives no message for this rank
/// @return the number of points written to the output
[[nodiscard]] std::int64_t placeRecorded(const Transport& transport,
                                         const PointEvaluator& evaluator,
                                         Span<const PointGroup> groups, const LineTable& table,
                                         const Shares& shares, LineArrays& output,
                                         MessageOutbox& outbox);

/// Local. Reads a message to its end, and writes its points to their positions in the output.
/// @return the number of points written
/// @throws Error if the message is malformed
[[nodiscard]] std::int64_t placeReceived(const Transport& transport, Reader& message,
                                         const std::vector<PointField>& fields,
                                         const LineTable& table, LineArrays& output);

}  // namespace tributary
