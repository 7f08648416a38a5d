// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Tributary/Base/ParallelFor.h"
#include "Tributary/Base/Span.h"

namespace tributary {

/// What the cells of a mesh share with each other (points, or edges or faces as numbered by
/// numberEntities()), in compressed rows. A cell without entities is a set of its own.
struct CellEntities {
  Span<const std::int64_t> offsets;   ///< cells + 1 positions in entities, ascending.
  Span<const std::int64_t> entities;  ///< In [0, entityCount).
  std::int64_t entityCount = 0;
};

/// The connected sets of a mesh's cells, numbered by their first cells.
struct MeshLabels {
  static constexpr std::uint32_t NoSet = 0xffffffff;
  std::vector<std::uint32_t> setOfCell;  ///< NoSet out of range.
  std::uint32_t sets = 0;
};

/// Labels the cells that share entities. Memory: 8 bytes per cell and 4 per entity (5
/// with values).
/// @param inRange  empty: all cells; else cells with 0 belong to no set and connect nothing
/// @param values   null, or one per cell: only cells of equal value are connected
/// Throws Error if sizes are off, an entity is out of range, or there are 2^32 - 1 cells or more.
MeshLabels labelMesh(const CellEntities& cells, Span<const std::uint8_t> inRange,
                     const std::int64_t* values, const ParallelFor& parallelFor);

}  // namespace tributary
