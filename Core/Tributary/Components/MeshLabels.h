// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Tributary/Base/ParallelFor.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Components/Connection.h"

namespace tributary {

/// The entities by which cells of a mesh are connected: points, or edges or faces as numbered by
/// numberEntities(), in compressed rows. A cell without entities is a set of its own.
struct CellEntities {
  Span<const std::int64_t> offsets;   ///< cells + 1 positions in entities, ascending.
  Span<const std::int64_t> entities;  ///< In [0, entityCount).
  std::int64_t entityCount = 0;
};

/// The connected sets of the cells of a mesh, numbered in the order of their first cells.
struct MeshLabels {
  std::vector<std::uint32_t> setOfCell;  ///< NoSet out of range.
  std::uint32_t sets = 0;
};

/// Labels the cells that share entities. Local. Memory: 8 bytes per cell and 4 bytes per entity (5
/// with values). Throws Error if the sizes of arrays do not match, if an entity is out of range, or
/// if there are 2^32 - 1 cells or more.
/// @param inRange  empty: all cells; else cells with 0 belong to no set and connect no others
/// @param values   null, or one per cell: only cells of equal value are connected
[[nodiscard]] MeshLabels labelMesh(const CellEntities& cells, Span<const std::uint8_t> inRange,
                                   const std::int64_t* values, const ParallelFor& parallelFor);

}  // namespace tributary
