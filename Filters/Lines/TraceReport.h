// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "Common/RunContext.h"
#include "Common/RunStatistics.h"
#include "Lines/DomainFromVTK.h"
#include "Lines/PointArrays.h"
#include "Periodic/PeriodicAxes.h"

#include "Tributary/Advection/Tracer.h"

namespace tributary {

// What filters report of a trace. All functions are local.

/// Adds the statistics of lending.
void addLendingStatistics(const FlowDomain& flow, const LendingStatistics& lending,
                          RunStatistics& statistics);

/// Adds the periods of the axes that are periodic.
void addPeriods(const PeriodicAxes& axes, RunStatistics& statistics);

/// The memory of the domain and its copies in bytes, beyond the input and evaluators.
[[nodiscard]] std::size_t domainMemory(const FlowDomain& flow, const LendingMemory& lending);

/// Warns of point arrays that are not interpolated. Call it on one rank.
void warnOfArrays(const RunContext& context, const PointArrayList& arrays);

/// Warns that hyper tree grids are not traced. Call it on one rank.
void warnOfTrees(const RunContext& context);

}  // namespace tributary
