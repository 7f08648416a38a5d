// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Support/OneEach.h"
#include "Tributary/Components/Regions.h"

namespace tributary::testing {

/// Numbers the regions of three sets in each of one block per rank: sets 0 and 1 of all blocks are
/// two regions, set 2 of each is one of its own.
inline NumberedRegions numberThreeSets(Transport& transport) {
  const BlockId mine = transport.rank();
  BlockFacts facts;
  facts.sets.resize(3);
  facts.values.resize(3);
  for (std::size_t s = 0; s < 3; ++s) {
    facts.sets[s].cells = 1 + mine;
    facts.sets[s].key = {s, static_cast<std::uint64_t>(mine), 0, 0};
  }
  return numberRegions(transport, oneEach(transport), {{{0, 0}, {0, 1}, {mine, 2}}}, {facts}, 1,
                       RegionOrder::LeastKey);
}

}  // namespace tributary::testing
