// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "Support/DiyRuns.h"

namespace bench {

struct WalksOptions {
  std::vector<int> blocksPerRank{1, 4, 16};
  std::vector<int> walkers{64, 4096, 65536};
  int hops = 2000000;  ///< All walkers together, about.
  int repeat = 5;
  std::vector<std::string> variants;  ///< Names; all if empty.
  std::string detector;
  std::size_t batchBytes;
  double holdTime;
  DiyOptions diy;
  std::string json;

  WalksOptions();
};

/// Messages per second of random walks: our schedules and DIY's two exchanges on the same walkers,
/// repetitions interleaved. Collective over MPI_COMM_WORLD; rank 0 prints and writes. Throws
/// tributary::Error if a hop is lost or a walker has gone astray.
void measureWalks(const WalksOptions& options);

}  // namespace bench
