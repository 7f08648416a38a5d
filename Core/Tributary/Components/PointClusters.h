// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <vector>

#include "Tributary/Collective/Assignment.h"
#include "Tributary/Components/DistributedUnion.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// A point that coincides with others near it.
struct LoosePoint {
  std::array<double, 3> place;
  double reach;  ///< At least 0. Points coincide within the smaller of their reaches.
};

/// Finds the points of all blocks that coincide, directly or through others. Collective. Memory is
/// proportional to the points of a rank and those in the same bins, whose width is four times the
/// largest reach. Reaches should not differ by orders of magnitude. Throws the errors of
/// uniteSets() on all ranks.
/// @param points  of each block of this rank; a point whose place or reach is not finite coincides
///                with no other
/// @return as uniteSets(), with points instead of sets: for each block of this rank, for each
///         point, the least of the points that it coincides with
[[nodiscard]] UnionResult clusterPoints(Transport& transport, const Assignment& assignment,
                                        const std::vector<std::vector<LoosePoint>>& points,
                                        const UnionOptions& options);

}  // namespace tributary
