// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tributary {

/// What two elements must share to be connected. On a lattice: how many of the three coordinates
/// may differ by one, so 6, 18 and 26 neighbors, and 4, 8 and 8 when one axis is flat. Cells of a
/// mesh: Faces means what bounds a cell (faces in 3-D, edges in 2-D, end points in 1-D), Edges
/// means the same but no more than edges, Points any point. Quadrilaterals in a plane lattice that
/// share an edge are thus Faces there.
enum class Through { Faces, Edges, Points };

}  // namespace tributary
