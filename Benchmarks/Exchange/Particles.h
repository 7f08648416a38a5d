// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "Support/ExchangeComparison.h"

namespace bench {

/// The parameters of measureParticles().
struct ParticlesOptions : ExchangeComparisonOptions {
  int voxels = 64;        ///< Per axis.
  double ratio = 10;      ///< Fast to slow velocity.
  int seedsPerVoxel = 4;  ///< Along y and along z.
  double stepVoxels = 1;  ///< Length of a step in fast blocks.
  std::vector<int> blocksPerRank{1, 2, 4, 8, 16};
  int stepsPerHop = 0;  ///< 0: the slow-block flow. Else a ring in which every hop changes rank.
  std::vector<int> tracers{1, 64, 4096, 65536};  ///< In the ring; square numbers.
  int hops = 400000;                             ///< In the ring: approximate total number of hops.
};

/// Measures all schedules and DIY's two exchanges on the same blocks, kernel and tracers, in
/// interleaved repetitions: section 4.1 of D. Morozov et al., "IExchange: Asynchronous
/// Communication and Termination Detection for Iterative Algorithms", LDAV 2021,
/// doi:10.1109/LDAV53230.2021.00009. Collective over MPI_COMM_WORLD; rank 0 prints and saves.
/// Throws tributary::Error if results differ or a tracer is lost.
void measureParticles(const ParticlesOptions& options);

}  // namespace bench
