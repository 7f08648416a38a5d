// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Base/Fingerprint.h"

#include <algorithm>
#include <array>
#include <vector>

#define XXH_INLINE_ALL  // no library to link
#include <xxhash.h>

namespace tributary {

void Fingerprint::add(const void* data, std::size_t bytes, const ParallelFor& parallelFor) {
  constexpr std::size_t PartBytes = std::size_t{1} << 20;
  const std::size_t parts = std::max<std::size_t>((bytes + PartBytes - 1) / PartBytes, 1);
  std::array<std::uint64_t, 5> few;  // enough for one part
  std::vector<std::uint64_t> many(parts > 1 ? 3 + 2 * parts : 0);
  const Span<std::uint64_t> chain =  // the hash before, and those of the parts
      parts > 1 ? Span<std::uint64_t>(many) : Span<std::uint64_t>(few.data(), few.size());
  chain[0] = low_;
  chain[1] = high_;
  chain[2] = bytes;
  const auto addParts = [&](std::int64_t begin, std::int64_t end) {
    for (auto part = std::size_t(begin); part < std::size_t(end); ++part) {
      const std::size_t first = part * PartBytes;
      const XXH128_hash_t hash = XXH3_128bits(static_cast<const std::byte*>(data) + first,
                                              std::min(PartBytes, bytes - first));
      chain[3 + 2 * part] = hash.low64;
      chain[4 + 2 * part] = hash.high64;
    }
  };
  if (parts > 1)
    parallelFor(std::int64_t(parts), addParts);
  else
    addParts(0, 1);
  const XXH128_hash_t all = XXH3_128bits(chain.data(), chain.size() * sizeof chain[0]);
  low_ = all.low64;
  high_ = all.high64;
}

}  // namespace tributary
