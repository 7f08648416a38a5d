// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "Support/Sanitized.h"
#include "Support/World.h"
#include "Tributary/Transport/Simulated.h"

namespace tributary::testing {

/// Whether to do a part of the cases of a solver: MPI's ranks share cores, and wait in each step
/// for one that has none.
inline bool few() {
  return Sanitized || world().size() > 1;
}

/// On MPI's ranks, or if that is one on simulated ones, too.
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

}  // namespace tributary::testing
