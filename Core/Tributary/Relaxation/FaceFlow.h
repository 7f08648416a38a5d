// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "Tributary/Relaxation/CellGrid.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// The flow through the faces of a box of cells, by the axis that a face is normal to, x fastest.
/// Along that axis there is one more face than cells.
struct FaceFlow {
  std::array<std::vector<double>, 3> velocity;  ///< along the axis, in length per time
  /// Not 0 for closed faces: no flow, no diffusion and no flux at a side passes through them. May
  /// be empty along an axis without closed faces.
  std::array<std::vector<std::uint8_t>, 3> closed;
};

/// The flow in the cells of this rank, x fastest.
struct CellFlow {
  /// By axis, the velocity along it at the lower and upper face of each cell. Both are the same if
  /// a cell has one velocity.
  std::array<std::vector<double>, 3> low, high;
  std::vector<std::uint8_t> solid;  ///< not 0 for solid cells, whose faces are closed
};

/// Collective. Computes the flow through the faces of this rank's box. The velocity at a face is
/// interpolated linearly from the two adjacent cells, so it is the same for both, even on different
/// ranks. At a side of the grid that is not periodic, it is that of the adjacent cell.
/// The faces of solid cells are closed.
/// @param grid  the same on all ranks
/// @param periodic  by axis, whether the last cells of the grid are neighbors of the first ones
/// @param box  this rank's cells, may be empty; no cell is on two ranks
/// @throws Error on all ranks if the sizes of `cells` do not match the box on any rank
[[nodiscard]] FaceFlow flowBetween(Transport& transport, const CellGrid& grid,
                                   const std::array<bool, 3>& periodic, const CellRange& box,
                                   const CellFlow& cells);

}  // namespace tributary
