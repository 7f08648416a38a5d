// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "Lines/DomainFromVTK.h"
#include "Lines/LineTable.h"
#include "Lines/SeedsFromVTK.h"

#include "Tributary/Advection/Tracer.h"
#include "Tributary/Transport/Transport.h"

class vtkTable;

namespace tributary {

/// How the table of destinations classifies the ends of lines.
enum class DestinationKind {
  None,    ///< There is no table.
  Reason,  ///< Why lines end, the event that ends them, and the label of a surface there.
  Label    ///< The value of an array of the input where lines end.
};

/// The properties of vtkAsyncStreamTracer about the table of destinations; see there.
struct DestinationSettings {
  DestinationKind kind = DestinationKind::None;
  std::string seedArray = {};  ///< Empty: all seeds have the label 0.
  std::string endArray = {};   ///< With DestinationKind::Label.
};

/// Where an array of the input is.
enum class ArrayPlace : std::int64_t { Nowhere = 0, Points = 1, Cells = 2 };

/// Collective. Where the input has the array with the labels of ends: cell data come before point
/// data.
/// @throws Error on all ranks if no rank has the array, or if it does not have one component
[[nodiscard]] ArrayPlace findEndLabels(Transport& transport, const FlowDomain& flow,
                                       const std::string& array);

/// Collective. The labels at the ends of lines: the value of the cell, of a cell array, or that of
/// the point with the largest weight, of a point array; of equal weights the lowest value. NaN if
/// the line does not exist, or if the array is missing there. The cells are found by a search.
/// @param options  of the trace
/// @param aborted  Out: on any rank
/// @return a label for each of LineTable::halves
[[nodiscard]] std::vector<double> endLabels(Transport& transport, const std::string& array,
                                            ArrayPlace place, const FlowDomain& flow,
                                            const SeedList& seeds, const LineTable& table,
                                            const TraceOptions& options, bool& aborted);

/// Collective. Fills the table on rank 0 with a row for each direction, label of seeds and
/// destination that occur together, in this order. Other ranks get the columns alone.
/// @param options  of the trace
/// @param endLabels  see above; with DestinationKind::Label
void writeDestinations(Transport& transport, DestinationKind kind, const SeedList& seeds,
                       const LineTable& table, const TraceOptions& options,
                       const std::vector<double>& endLabels, vtkTable* output);

}  // namespace tributary
