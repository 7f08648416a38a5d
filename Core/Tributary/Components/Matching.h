// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Tributary/Base/Span.h"
#include "Tributary/Collective/Assignment.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Identifies an entity (a point, an edge, a face) on all ranks: entities with equal keys are the
/// same. The bits must be well mixed, as in the results of the functions below: the probability
/// that two of 10^9 entities have the same key is below 1e-20.
struct EntityKey {
  std::uint64_t high = 0, low = 0;

  bool operator==(const EntityKey& other) const { return high == other.high && low == other.low; }
  bool operator!=(const EntityKey& other) const { return !(*this == other); }
  bool operator<(const EntityKey& other) const {
    return high != other.high ? high < other.high : low < other.low;
  }
};

/// The key of a point by its global id.
[[nodiscard]] EntityKey keyOfPoint(std::int64_t globalId);
/// The key of a point by its coordinates, bit by bit; -0 equals 0.
[[nodiscard]] EntityKey keyOfPoint(const double coordinates[3]);
/// The key of an entity of a structured grid. @param kind  which of the entities at i, j, k
[[nodiscard]] EntityKey keyOfStructured(std::uint64_t grid, std::int64_t i, std::int64_t j,
                                        std::int64_t k, std::int64_t kind);
/// The key of an edge or a face by the keys of its points, in any order.
/// @param points  In and out: sorted by the function
[[nodiscard]] EntityKey keyOfEntity(Span<EntityKey> points);

/// An entity of a block and the same entity in another block.
struct Match {
  std::int64_t local;   ///< its number in the block
  BlockId block;        ///< the other block
  std::int64_t remote;  ///< its number there
};

/// Finds the entities that blocks share. The lowest of the blocks that share an entity owns it. The
/// owner gets a match with each of the others, and each of the others one match with the owner, so
/// that the number of matches is linear in the number of blocks. If a block has a key twice, it
/// shares the entity with itself, and the one with the lower number is the owner.
///
/// Collective. A rank chosen by the key compares equal keys, so memory is proportional to the
/// entities of a rank. Throws Error on all ranks if the arguments of a rank are invalid or a
/// message is malformed.
/// @param keys  for each block of this rank, of the entities that other blocks may have, in order
/// @return for each block of this rank its matches, sorted by (local, block, remote)
[[nodiscard]] std::vector<std::vector<Match>> matchEntities(
    Transport& transport, const Assignment& assignment,
    const std::vector<std::vector<EntityKey>>& keys);

}  // namespace tributary
