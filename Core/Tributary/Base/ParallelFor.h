// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>

namespace tributary {

/// A caller's parallel loop: runs `body(begin, end)` over disjoint ranges that cover [0, n), on as
/// many threads as the caller likes, and returns when all are done. `body` may be called from
/// several threads at once; it never calls MPI.
using ParallelFor = std::function<void(
    std::int64_t n, const std::function<void(std::int64_t begin, std::int64_t end)>& body)>;

/// The loop on the calling thread.
inline void serialFor(std::int64_t n, const std::function<void(std::int64_t, std::int64_t)>& body) {
  if (n > 0) body(0, n);
}

}  // namespace tributary
