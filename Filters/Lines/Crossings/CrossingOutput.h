// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDoubleArray.h>
#include <vtkFloatArray.h>
#include <vtkIdTypeArray.h>
#include <vtkIntArray.h>
#include <vtkPolyData.h>
#include <vtkSmartPointer.h>

#include <optional>
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

/// The crossings of a rank's lines, in the order of their places.
struct CrossingList {
  LineTable places;  ///< As if crossings were the points of lines.
  std::vector<bool> arrived;
  std::optional<LineArrays> evaluated;       ///< By field, with CrossingContent::All.
  vtkSmartPointer<vtkFloatArray> positions;  ///< With CrossingContent::Positions, and nothing else.
  vtkSmartPointer<vtkDoubleArray> points, length;
  vtkSmartPointer<vtkDoubleArray> time;  ///< With CrossingContent::Times.
  vtkSmartPointer<vtkIntArray> event, number;
  vtkSmartPointer<vtkIdTypeArray> target;  ///< Of CrossingPoint, with LineTable::hasSurface.
};

/// Collective. The crossings of events by the lines of this rank. Like the points of lines, each is
/// evaluated on the rank that recorded it.
/// @param shares  of the seeds; they define the rank of each line
/// @param places  of the crossings of this rank's lines, as if they were the points of lines
/// @param content  that of the trace
/// @param traced  its crossings are taken out, so that their memory serves for the list
/// @throws Error on all ranks if a crossing is missing or a message is malformed
[[nodiscard]] CrossingList collectCrossings(Transport& transport, const FlowDomain& flow,
                                            const PointEvaluator& evaluator, const Shares& shares,
                                            LineTable places, CrossingContent content,
                                            TraceResult& traced);

/// Local. Crossings without a point, with the arrays of those that assembleCrossings() returns.
[[nodiscard]] vtkSmartPointer<vtkPolyData> noCrossings(const Transport& transport,
                                                       const PointEvaluator& evaluator,
                                                       const PointArrayList& arrays,
                                                       const SeedList& seeds,
                                                       CrossingContent content);

/// Collective. The output of the crossings of events by the lines of this rank's seeds, ordered by
/// seed, forward before backward, and along each line: see collectCrossings().
/// @param table  of the lines of this rank
/// @param content  with All, crossings have the arrays of `evaluator`; with Positions, those of a
///                 line and direction are one cell, and nothing else is output
/// @param traced  its crossings are taken out, so that their memory serves for the output
/// @throws Error on all ranks if a crossing is missing or a message is malformed
[[nodiscard]] vtkSmartPointer<vtkPolyData> assembleCrossings(
    Transport& transport, const FlowDomain& flow, const PointEvaluator& evaluator,
    const PointArrayList& arrays, const SeedList& seeds, const LineTable& table,
    CrossingContent content, TraceResult& traced);

}  // namespace tributary
