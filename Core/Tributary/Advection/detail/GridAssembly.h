// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "Tributary/Advection/StructuredField.h"
#include "Tributary/Advection/detail/StructuredGrid.h"
#include "Tributary/Base/Bytes.h"

namespace tributary::detail {

/// Number of points of an extent along an axis.
[[nodiscard]] inline std::int64_t pointsAlong(const std::array<int, 6>& extent, std::size_t a) {
  return std::int64_t(extent[2 * a + 1]) - extent[2 * a] + 1;
}

/// A grid that consists of the pieces of all ranks.
struct WholeGrid {
  std::shared_ptr<StructuredGrid> grid;
  std::array<int, 3> firstIndex;  ///< The index in the pieces' extents that is index 0 of `grid`.
};

/// Local. The extents and coordinates of this rank's pieces, as a message to all ranks.
[[nodiscard]] Bytes describePieces(const std::vector<StructuredPiece>& pieces);

/// Local. The whole grids, by number. Throws Error if the pieces of a grid do not fit together.
/// @param descriptions  describePieces() of each rank
[[nodiscard]] std::map<int, WholeGrid> assembleGrids(const std::vector<Bytes>& descriptions);

}  // namespace tributary::detail
