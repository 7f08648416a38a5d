// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "Tributary/Relaxation/CellGrid.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// What is known of the faces of a box's cells, per axis those across it, x fastest: one face more
/// than cells along the axis.
struct FaceFlow {
  std::array<std::vector<double>, 3> velocity;  ///< Along the axis, in length per time.
  /// Not 0 where neither flow nor diffusion comes through, nor a flux where that is at a side.
  /// Empty along an axis where no face is closed.
  std::array<std::vector<std::uint8_t>, 3> closed;
};

/// What a rank knows of the flow in its own cells, x fastest.
struct CellFlow {
  /// Per axis the velocity along it at each cell's lower and upper face, as far as the cell knows:
  /// twice the same where there is one velocity for a cell.
  std::array<std::vector<double>, 3> low, high;
  std::vector<std::uint8_t> solid;  ///< Not 0 in cells that nothing enters or leaves.
};

/// Collective. The flow on the faces of each rank's box: what the cells on both sides of a face say
/// of it, interpolated linearly, so that it is the same for both, on whichever ranks they are, and
/// what the one cell says at a side of the grid that is not periodic. Faces of solid cells are
/// closed.
/// @param periodic  along which axes the grid's last cells are neighbors of its first ones
/// @param box       this rank's cells, maybe none; no cell is on two ranks
/// Throws Error on all ranks if sizes do not fit on any.
FaceFlow flowBetween(Transport& transport, const CellGrid& grid,
                     const std::array<bool, 3>& periodic, const CellRange& box,
                     const CellFlow& cells);

}  // namespace tributary
