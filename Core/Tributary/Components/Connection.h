// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tributary {

/// The number of the set of an element that is in none.
constexpr std::uint32_t NoSet = 0xffffffff;

/// The entities that two elements must share to be connected. On a lattice, one, two or three of
/// the coordinates may differ by one: an element has 6, 18 or 26 neighbors, or 4, 8 or 8 if one
/// axis is flat. Cells of a mesh are connected through Faces if they share a face (3-D), an edge
/// (2-D) or an end point (1-D), through Edges also if 3-D cells share an edge, and through Points
/// if they share any point. So quadrilaterals of a plane lattice that share an edge are connected
/// through Faces.
enum class Through { Faces, Edges, Points };

}  // namespace tributary
