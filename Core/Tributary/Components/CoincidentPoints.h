// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Tributary/Base/ParallelFor.h"
#include "Tributary/Base/Span.h"

namespace tributary {

/// Finds for each point the first one with the same coordinates. Coordinates are compared bit by
/// bit; -0 equals 0. Local. Throws Error if the number of coordinates is not a multiple of 3, or if
/// there are 2^31 points or more.
/// @param points  three coordinates each; float or double
template <class Real>
[[nodiscard]] std::vector<std::int64_t> mergeCoincident(Span<const Real> points,
                                                        const ParallelFor& parallelFor);

}  // namespace tributary
