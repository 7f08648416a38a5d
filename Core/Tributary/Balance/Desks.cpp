// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Balance/Desks.h"

#include <cstdint>
#include <vector>

namespace tributary {
namespace {

Assignment withOneMore(const Assignment& blocks) {
  std::vector<std::int64_t> counts;
  for (int rank = 0; rank < blocks.ranks(); ++rank) counts.push_back(blocks.count(rank) + 1);
  return Assignment(counts);
}

}  // namespace

Desks::Desks(const Assignment& blocks) : blocks_(blocks), all_(withOneMore(blocks)) {}

void renumber(Timeline& timeline, std::size_t first, const Desks& desks) {
  timeline.renumber(first, [&](BlockId address) {
    return desks.isDesk(address) ? BlockId(-1) : desks.blockAt(address);
  });
}

}  // namespace tributary
