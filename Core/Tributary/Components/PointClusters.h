// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <vector>

#include "Tributary/Collective/Assignment.h"
#include "Tributary/Components/DistributedUnion.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// A point that is the same as others near it.
struct LoosePoint {
  std::array<double, 3> place;
  double reach;  ///< At least 0; two points are the same within the smaller of their reaches.
};

/// Points of all blocks that are the same, directly or from one to the next. Collective. Memory
/// follows a rank's own points, and those that lie in the same bins, which are as wide as the
/// largest reach: reaches should not differ by orders of magnitude.
/// @param points  of each block of this rank. Those with a place or a reach that is not finite are
///                alone.
/// @return as uniteSets(), with points for sets: for each block of this rank, for each point, the
///         least of the points that it is the same as
UnionResult clusterPoints(Transport& transport, const Assignment& assignment,
                          const std::vector<std::vector<LoosePoint>>& points,
                          const UnionOptions& options);

}  // namespace tributary
