// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

namespace tributary {

/// A parallel loop that the caller provides. It must call `body(begin, end)` for disjoint ranges
/// that cover [0, n), on any number of threads, and return after all calls have returned. `body`
/// may run on several threads concurrently and never calls MPI.
using ParallelFor = std::function<void(
    std::int64_t n, const std::function<void(std::int64_t begin, std::int64_t end)>& body)>;

/// A loop on the calling thread.
inline void serialFor(std::int64_t n, const std::function<void(std::int64_t, std::int64_t)>& body) {
  if (n > 0) body(0, n);
}

/// Whether holds(begin, end), which may run on several threads, is true for parts of [0, n).
template <class Holds>
[[nodiscard]] bool holdsForAll(const ParallelFor& parallelFor, std::int64_t n, const Holds& holds) {
  std::atomic<bool> all{true};
  parallelFor(n, [&](std::int64_t begin, std::int64_t end) {
    if (!holds(begin, end)) all.store(false, std::memory_order_relaxed);
  });
  return all.load(std::memory_order_relaxed);
}

}  // namespace tributary
