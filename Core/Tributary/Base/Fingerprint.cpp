// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Base/Fingerprint.h"

#define XXH_INLINE_ALL  // no library to link
#include <xxhash.h>

namespace tributary {

void Fingerprint::add(const void* data, std::size_t bytes) {
  const XXH128_hash_t added = XXH3_128bits(data, bytes);
  const std::uint64_t chain[] = {low_, high_, added.low64, added.high64, bytes};
  const XXH128_hash_t all = XXH3_128bits(chain, sizeof chain);
  low_ = all.low64;
  high_ = all.high64;
}

}  // namespace tributary
