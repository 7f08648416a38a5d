// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "Support/ExchangeComparison.h"

namespace bench {

/// The parameters of measureWalks().
struct WalksOptions : ExchangeComparisonOptions {
  std::vector<int> blocksPerRank{1, 4, 16};
  std::vector<int> walkers{64, 4096, 65536};
  int hops = 2000000;  ///< Approximate total number of hops of all walkers.
};

/// Measures messages per second of random walks: all schedules and DIY's two exchanges on the same
/// walkers, with interleaved repetitions. Collective over MPI_COMM_WORLD; rank 0 prints and saves.
/// Throws tributary::Error if a hop is lost or walks differ.
void measureWalks(const WalksOptions& options);

}  // namespace bench
