// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/Pieces/GapSlabs.h"

#include <utility>

namespace tributary {

LatticeSize GapSlab::points() const {
  LatticeSize size{};
  for (std::size_t n = 0; n < 3; ++n) size[n] = last[order[n]] - first[order[n]] + 1;
  return size;
}

std::vector<GapSlab> gapSlabsOf(const DomainRules& rules, const std::array<std::int64_t, 3>& first,
                                const std::array<std::int64_t, 3>& last) {
  std::vector<GapSlab> slabs;
  unsigned atGap = 0;
  for (std::size_t a = 0; a < 3; ++a)
    if (rules.periodic[a].hasGap() && last[a] == rules.whole[2 * a + 1]) atGap |= 1u << a;
  std::size_t words = 0, elementWords = 0;
  for (unsigned axes = 1; axes < 8; ++axes) {
    if ((axes & ~atGap) != 0) continue;
    GapSlab slab;
    slab.first = first;
    slab.last = last;
    std::size_t next = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      slab.isGap[a] = (axes >> a & 1) != 0;
      if (!slab.isGap[a]) slab.order[next++] = a;
    }
    for (std::size_t a = 0; a < 3; ++a) {
      if (!slab.isGap[a]) continue;
      slab.order[next++] = a;
      slab.first[a] = last[a];
      slab.last[a] = last[a] + 1;
    }
    // Rows of one element are slow.
    if (slab.first[slab.order[0]] == slab.last[slab.order[0]])
      std::swap(slab.order[0], slab.order[1]);
    slab.firstWord = words;
    words += static_cast<std::size_t>(slab.words());
    slab.firstElementWord = elementWords;
    elementWords += static_cast<std::size_t>(slab.elementWords());
    slabs.push_back(slab);
  }
  return slabs;
}

}  // namespace tributary
