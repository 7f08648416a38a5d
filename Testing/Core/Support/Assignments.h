// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

#include "Support/Effort.h"
#include "Support/World.h"
#include "Tributary/Collective/Assignment.h"
#include "Tributary/Transport/Simulated.h"

namespace tributary::testing {

/// Assigns blocks to ranks unevenly, with empty ranks, depending on the seed.
inline Assignment spread(std::int64_t blocks, int ranks, std::uint64_t seed) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(ranks), 0);
  const auto owners = 1 + mix(seed) % static_cast<std::uint64_t>(ranks);
  for (std::int64_t block = 0; block < blocks; ++block) {
    ++counts[mix(seed * 7919 + static_cast<std::uint64_t>(block)) % owners];
  }
  std::rotate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(seed % counts.size()),
              counts.end());
  return Assignment(counts);
}

/// The messages that may remain in a simulated network: exchanges that stop early leave messages.
enum class Left { Nothing, Messages };

/// Runs `body` on the ranks of the program; in a program with one rank, on `simulated` simulated
/// ranks.
template <class Body>
void onRanks(int simulated, Body&& body, Left left = Left::Nothing) {
  if (world().size() > 1 || simulated == 1) {
    body(world());
    return;
  }
  VirtualTimeNetworkOptions options;
  options.ranks = simulated;
  options.ranksPerNode = 3;
  const auto network = makeVirtualTimeNetwork(options);
  network->run(body);
  if (left == Left::Nothing) {
    EXPECT_EQ(network->left(), "");
  }
}

/// Runs `body` on simulated ranks under `schedules` random adversaries.
/// @param body  called with the seed and the transport of a rank
template <class Body>
void underAdversaries(int schedules, Body&& body) {
  const int some = static_cast<int>(someOf(static_cast<std::uint64_t>(schedules)));
  for (int seed = 0; seed < some; ++seed) {
    const auto adversary = makeRandomAdversary(static_cast<std::uint64_t>(seed));
    const auto network =
        makeAdversarialNetwork(2 + seed % 5, *adversary, seed % 2 == 0, seed / 2 % 2 == 0);
    network->run([&](Transport& transport) { body(static_cast<std::uint64_t>(seed), transport); });
    EXPECT_EQ(network->left(), "") << "seed " << seed;
  }
}

/// All sequences of k-values that reduce `blocks` blocks to one without superfluous rounds.
inline std::vector<std::vector<int>> allKValues(std::int64_t blocks) {
  if (blocks <= 1) return {{}};
  std::vector<std::vector<int>> all;
  for (int k = 2; k <= blocks; ++k) {
    for (const auto& rest : allKValues((blocks + k - 1) / k)) {
      all.push_back({k});
      all.back().insert(all.back().end(), rest.begin(), rest.end());
    }
  }
  return all;
}

}  // namespace tributary::testing
