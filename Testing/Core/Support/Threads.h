// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <thread>
#include <vector>

#include "Tributary/Base/ParallelFor.h"

namespace tributary::testing {

/// A loop on `threads` threads. Its iterations are divided into `ranges` ranges, and thread t takes
/// the ranges t, t + threads, t + 2 threads, ...
inline ParallelFor onThreads(int threads, int ranges) {
  return [=](std::int64_t n, const std::function<void(std::int64_t, std::int64_t)>& body) {
    std::vector<std::thread> team;
    for (int t = 0; t < threads; ++t)
      team.emplace_back([&, t] {
        for (int r = t; r < ranges; r += threads) {
          const std::int64_t begin = n * r / ranges, end = n * (r + 1) / ranges;
          if (begin < end) body(begin, end);
        }
      });
    for (auto& thread : team) thread.join();
  };
}

}  // namespace tributary::testing
