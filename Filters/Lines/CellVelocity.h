// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "Lines/DomainFromVTK.h"

#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Collective. Velocity at the points of every piece of this rank (3 values per point) where the
/// velocity belongs to cells: the mean over the cells of all ranks that touch the point's position.
///
/// Vorticity needs a field that varies within a cell; this is the one that Cell Data to Point Data
/// makes, but over all pieces. The bits do not depend on the cut: velocities are rounded once to
/// multiples of 2^-40 of the largest magnitude and summed as integers, in whatever order. Points of
/// different pieces, and doubled points of one piece, are the same if their coordinates are equal.
/// Duplicate and hidden cells, cells of lower dimension and velocities that are not finite count
/// nothing; a point without any other cell has velocity 0.
std::vector<std::vector<double>> averageToPoints(Transport& transport, const FlowDomain& flow);

}  // namespace tributary
