// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataArray.h>
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
#include "Lines/SeedsFromVTK.h"

#include "Tributary/Advection/Tracer.h"
#include "Tributary/Collective/Shares.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// What the point arrays of lines do not have, as it travels, without padding.
struct CrossingRecord {
  std::int64_t line;
  std::int32_t index;
  std::int32_t event;
  std::int64_t number;
  double length;
  double x[3];
  std::int64_t target;
};
static_assert(sizeof(CrossingRecord) == 64, "no padding travels");

/// The crossings of a rank's lines, in the order of their places.
struct CrossingList {
  std::vector<CrossingRecord> records;
  std::unique_ptr<LineArrays> arrays;  ///< By field of the evaluator.
};

/// Collective. The crossings of events by the lines of this rank. Like the points of lines, each is
/// evaluated on the rank that recorded it.
/// @param shares  of the seeds; they define the rank of each line
/// @param places  of the crossings of this rank's lines, as if they were the points of lines
/// @throws Error on all ranks if a crossing is missing or a message is malformed
[[nodiscard]] CrossingList collectCrossings(Transport& transport, const FlowDomain& flow,
                                            const PointEvaluator& evaluator, const Shares& shares,
                                            const LineTable& places, const TraceResult& traced);

/// The arrays of crossings that lines do not have.
struct CrossingArrays {
  vtkSmartPointer<vtkDataArray> x, length, event, number;
  vtkSmartPointer<vtkDataArray> target;  ///< See CrossingPoint.
};

/// Local.
[[nodiscard]] CrossingArrays arraysOf(const std::vector<CrossingRecord>& records);

/// Local. Crossings without a point, with the arrays of those that assembleCrossings() returns.
[[nodiscard]] vtkSmartPointer<vtkPolyData> noCrossings(const Transport& transport,
                                                       const PointEvaluator& evaluator,
                                                       const PointArrayList& arrays,
                                                       const SeedList& seeds);

/// Collective. The crossings of events by the lines of this rank's seeds, ordered by seed, forward
/// before backward, and along each line. Like the points of lines, each is evaluated on the rank
/// that recorded it.
/// @param table  of the lines of this rank
/// @throws Error on all ranks if a crossing is missing or a message is malformed
[[nodiscard]] vtkSmartPointer<vtkPolyData> assembleCrossings(
    Transport& transport, const FlowDomain& flow, const PointEvaluator& evaluator,
    const PointArrayList& arrays, const SeedList& seeds, const LineTable& table,
    const TraceResult& traced);

}  // namespace tributary
