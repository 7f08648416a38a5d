// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/detail/MeshLinks.h"

#include <algorithm>

#include "Tributary/Base/Hash.h"
#include "Tributary/Collective/Rendezvous.h"

namespace tributary::detail {

std::uint64_t pointHash(std::int64_t globalId) {
  return scramble(static_cast<std::uint64_t>(globalId));
}

std::uint64_t pointHash(const double coordinates[3]) {
  std::uint64_t hash = 0;
  for (int a = 0; a < 3; ++a) hash = scramble(hash ^ coordinateBits(coordinates[a]));
  return hash;
}

bool faceKey(std::uint64_t* hashes, int count, int least, FaceKey& key) {
  std::sort(hashes, hashes + count);
  count = static_cast<int>(std::unique(hashes, hashes + count) - hashes);
  if (count < least) return false;
  key = {};
  for (int i = 0; i < count; ++i) {
    key.a = scramble(key.a ^ hashes[i]);
    key.b = scramble(key.b + (hashes[i] ^ 0x5851f42d4c957f2dull));
  }
  return true;
}

std::vector<std::uint64_t> findShared(Transport& transport, ErrorCollector& errors,
                                      std::vector<std::uint64_t> mine) {
  std::vector<std::uint64_t> shared = rendezvous<std::uint64_t>(
      transport, errors, std::move(mine), [](std::uint64_t hash) { return hash; },
      [](std::uint64_t a, std::uint64_t b) { return a < b; },
      [](std::uint64_t a, std::uint64_t b) { return a == b; },
      [](Span<Met<std::uint64_t>> group, auto&& send) {
        if (group.size() < 2) return;
        for (const auto& met : group) send(met.rank, met.record);
      });
  std::sort(shared.begin(), shared.end());
  shared.erase(std::unique(shared.begin(), shared.end()), shared.end());
  return shared;
}

std::vector<FacePair> matchFaces(Transport& transport, ErrorCollector& errors,
                                 std::vector<FaceSide> sides) {
  return rendezvous<FacePair>(
      transport, errors, std::move(sides), [](const FaceSide& side) { return side.key.a; },
      [](const FaceSide& a, const FaceSide& b) {
        return a.key.a != b.key.a ? a.key.a < b.key.a : a.key.b < b.key.b;
      },
      [](const FaceSide& a, const FaceSide& b) { return a.key == b.key; },
      [](Span<Met<FaceSide>> group, auto&& send) {
        if (group.size() != 2) return;
        send(group[0].rank, {group[0].record, group[1].record});
        send(group[1].rank, {group[1].record, group[0].record});
      });
}

}  // namespace tributary::detail
