// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "Common/Leaves.h"

#include "Tributary/Base/Span.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Collective. Which structured data sets of all ranks are parts of one grid, in whose extent the
/// same indices mean the same point:
/// - uniform grids with the same origin, spacing and direction;
/// - rectilinear ones, and curvilinear ones, that are all the input or belong to one data set in
///   pieces, if they have the same coordinates wherever they have the same indices (the axes of
///   rectilinear ones must go on in their direction from part to part); otherwise each is a grid of
///   its own, as extents that all begin at 0 say nothing of where a part lies.
/// Flat parts belong together only in the same plane.
/// @param leaves  of this rank
/// @return a number for each leaf, alike for parts of one grid; -1 where a leaf is not structured
std::vector<int> numberGrids(Transport& transport, Span<const Leaf> leaves);

}  // namespace tributary
