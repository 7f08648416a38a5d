// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>

#include "Support/Effort.h"
#include "Support/World.h"
#include "Tributary/Transport/Simulated.h"

namespace tributary::testing {

/// Whether to run only a part of the cases of a solver: all of them run in Utilities/test --all, on
/// one MPI rank and without sanitizers. (Several ranks share cores and wait in each step for ranks
/// without a core.)
inline bool few() {
  return Sanitized || world().size() > 1 || !thorough();
}

/// Runs `body` on the MPI ranks; with one MPI rank, also on simulated ranks.
inline void everywhere(const std::function<void(Transport&)>& body) {
  body(world());
  if (world().size() > 1) return;
  for (const int ranks : {3, 8}) {
    if (few() && ranks > 3) continue;
    VirtualTimeNetworkOptions options;
    options.ranks = ranks;
    const auto network = makeVirtualTimeNetwork(options);
    network->run(body);
    EXPECT_EQ(network->left(), "");
  }
}

/// Runs `body` on simulated ranks: for even seeds with events in any order, for odd seeds in
/// virtual time with noise and a slow rank.
/// @param network  latencies and costs in virtual time
inline void onSimulatedRanks(int ranks, std::uint64_t seed,
                             const std::function<void(Transport&)>& body,
                             VirtualTimeNetworkOptions network = {}) {
  if (seed % 2 == 0) {
    const auto adversary = makeRandomAdversary(seed);
    const auto random = makeAdversarialNetwork(ranks, *adversary);
    random->run(body);
    EXPECT_EQ(random->left(), "") << "seed " << seed;
    return;
  }
  network.ranks = ranks;
  network.noise = 1;
  network.seed = seed;
  network.speeds.assign(std::size_t(ranks), 1.0);
  network.speeds[mix(seed + 12) % std::size_t(ranks)] = 0.1;
  const auto timed = makeVirtualTimeNetwork(network);
  timed->run(body);
  EXPECT_EQ(timed->left(), "") << "seed " << seed;
}

}  // namespace tributary::testing
