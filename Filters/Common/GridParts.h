// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "Common/Leaves.h"

#include "Tributary/Base/Span.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Collective. Determines which structured data sets of all ranks are parts of one grid, in whose
/// extent equal indices denote equal points:
/// - uniform grids with equal origin, spacing and direction;
/// - rectilinear and curvilinear grids that form the whole input, or that are pieces of one data
///   set of a composite, if their coordinates are equal wherever their indices are. The axes of
///   rectilinear parts must also be monotonic from part to part. Otherwise each data set is a grid
///   of its own, because extents that all begin at 0 do not locate a part.
/// Flat parts belong to one grid only if they lie in the same plane. Throws Error on all ranks.
/// @param leaves  of this rank
/// @return the number of the grid of each leaf, -1 for a leaf that is not structured
[[nodiscard]] std::vector<int> numberGrids(Transport& transport, Span<const Leaf> leaves);

}  // namespace tributary
