// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Tributary/Base/ParallelFor.h"
#include "Tributary/Base/Span.h"

namespace tributary {

/// For each point the first one with exactly the same coordinates, bit by bit but for -0, which is
/// 0.
/// @param points  three coordinates each; float or double
/// Throws Error if the coordinates are no triples or there are 2^31 points or more.
template <class Real>
std::vector<std::int64_t> mergeCoincident(Span<const Real> points, const ParallelFor& parallelFor);

}  // namespace tributary
