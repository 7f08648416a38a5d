// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Tributary/Base/Span.h"
#include "Tributary/Collective/Assignment.h"
#include "Tributary/Components/Matching.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Identifies a set of connected elements on all ranks, by its block and its number there.
struct SetName {
  BlockId block;
  std::int64_t set;

  bool operator==(const SetName& other) const { return block == other.block && set == other.set; }
  bool operator!=(const SetName& other) const { return !(*this == other); }
  bool operator<(const SetName& other) const {
    return block != other.block ? block < other.block : set < other.set;
  }
};

/// A set of a block and a set of another block, or of the same, belong to one region.
struct SetLink {
  std::int64_t local;
  BlockId block;
  std::int64_t remote;
};

/// Links sets that share entities: all sets that contain an entity are linked to the least of them,
/// even if the owner of the entity has no set there. Collective; two messages between ranks that
/// share entities. Throws Error on all ranks if the arguments of a rank
/// are invalid or a message is malformed.
/// @param matches  the result of matchEntities(); may be used again for other sets
/// @param setOfEntity  for each block of this rank, the set of each of the entities whose keys were
///                     matched; NoSet for none
/// @return for each block of this rank its links, sorted, each once; given on both sides
[[nodiscard]] std::vector<std::vector<SetLink>> linkSets(
    Transport& transport, const Assignment& assignment,
    const std::vector<std::vector<Match>>& matches,
    const std::vector<Span<const std::uint32_t>>& setOfEntity);

}  // namespace tributary
