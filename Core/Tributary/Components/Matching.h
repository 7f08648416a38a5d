// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Tributary/Base/Span.h"
#include "Tributary/Collective/Assignment.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// What identifies an entity (a point, an edge, a face) on all ranks: equal keys mean the same one.
/// The bits must be well mixed, as the functions below give them: among a billion entities two
/// different ones have the same key with a chance below 1e-20.
struct EntityKey {
  std::uint64_t high = 0, low = 0;

  bool operator==(const EntityKey& other) const { return high == other.high && low == other.low; }
  bool operator!=(const EntityKey& other) const { return !(*this == other); }
  bool operator<(const EntityKey& other) const {
    return high != other.high ? high < other.high : low < other.low;
  }
};

/// Of a point by its global id.
EntityKey keyOfPoint(std::int64_t globalId);
/// Of a point by its coordinates bit by bit; -0 counts as 0.
EntityKey keyOfPoint(const double coordinates[3]);
/// Of an entity of a structured grid: `kind` says which of those at i, j, k.
EntityKey keyOfStructured(std::uint64_t grid, std::int64_t i, std::int64_t j, std::int64_t k,
                          std::int64_t kind);
/// Of an edge or a face by the keys of its points, in any order.
/// @param points  sorted in place
EntityKey keyOfEntity(Span<EntityKey> points);

/// An entity of a block and the same entity in another block.
struct Match {
  std::int64_t local;   ///< its number in the block
  BlockId block;        ///< the other block
  std::int64_t remote;  ///< its number there
};

/// Finds out who shares which entities. Of the blocks that share one, the lowest owns it; it gets a
/// match with each of the others, and each of those one match with the owner: a star, so that the
/// matches are linear in the number of sharers. A key that a block has twice is shared by the block
/// with itself, and the lower number owns.
///
/// Collective. Keys travel to the ranks that they name and back, so memory follows a rank's own
/// entities. Throws Error on all ranks if one rank's arguments are wrong or a message is malformed.
/// @param keys  of the entities of each block of this rank, in order: those that others may have
/// @return for each block of this rank its matches, sorted by (local, block, remote)
std::vector<std::vector<Match>> matchEntities(Transport& transport, const Assignment& assignment,
                                              const std::vector<std::vector<EntityKey>>& keys);

}  // namespace tributary
