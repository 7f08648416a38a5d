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

/// The part of a description that has a fixed size.
struct PieceSummary {
  int grid;
  std::array<int, 6> extent;
  std::int32_t uniform;
  std::array<double, 3> origin, spacing;
};

/// A piece of any rank.
struct PieceDescription {
  PieceSummary summary;
  std::array<std::vector<double>, 3> coordinates;  ///< Empty if the piece is uniform.
};

/// Local. The extents and coordinates of this rank's pieces, as a message to all ranks.
[[nodiscard]] Bytes describePieces(const std::vector<StructuredPiece>& pieces);

/// Local. Reads a piece that describePieces() wrote.
[[nodiscard]] PieceDescription readPiece(Reader& reader);

/// Local. The whole grids, by number. Throws Error if the pieces of a grid do not fit together.
/// @param pieces  of all ranks
[[nodiscard]] std::map<int, WholeGrid> assembleGrids(const std::vector<PieceDescription>& pieces);

}  // namespace tributary::detail
