// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "Lines/DomainFromVTK.h"

#include "Tributary/Transport/Transport.h"

namespace tributary {

/// The steps at the beginning and the end of the interval of an unsteady field.
enum class FlowStep { Earlier, Later };

/// Collective. Averages cell velocities to the points of all pieces of this rank: the velocity of a
/// point is the mean over the cells of all ranks that touch its position. Vorticity requires a
/// field that varies within a cell. The result is that of Cell Data to Point Data, computed over
/// all pieces.
///
/// The bits do not depend on the decomposition: velocities are rounded once to multiples of 2^-40
/// of the largest magnitude and summed as integers, so the order of summation does not matter.
/// Points of different pieces, and duplicate points of one piece, are identified if their
/// coordinates are equal. Duplicate cells, hidden cells, cells of lower dimension and velocities
/// that are not finite are ignored; a point without other cells has velocity 0.
/// @param step  which velocities of an unsteady field
/// @return for each piece, 3 values per point
[[nodiscard]] std::vector<std::vector<double>> averageToPoints(Transport& transport,
                                                               const FlowDomain& flow,
                                                               FlowStep step = FlowStep::Earlier);

}  // namespace tributary
