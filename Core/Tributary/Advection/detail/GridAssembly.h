// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "Tributary/Advection/StructuredField.h"
#include "Tributary/Advection/detail/StructuredGrid.h"
#include "Tributary/Transport/Transport.h"

namespace tributary::detail {

/// Number of points of the extent along an axis.
inline std::int64_t pointsAlong(const std::array<int, 6>& extent, std::size_t a) {
  return std::int64_t(extent[2 * a + 1]) - extent[2 * a] + 1;
}

/// The whole grid of each number, built from the pieces of all ranks. Collective; an Error that the
/// pieces do not fit together is thrown on all ranks.
/// @param firstIndex  receives the extent index that is the grid's index 0
std::map<int, std::shared_ptr<StructuredGrid>> assembleGrids(
    Transport& transport, const std::vector<StructuredPiece>& pieces,
    std::map<int, std::array<int, 3>>& firstIndex);

}  // namespace tributary::detail
