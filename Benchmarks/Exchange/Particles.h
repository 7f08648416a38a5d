// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "Support/DiyRuns.h"

namespace bench {

struct ParticlesOptions {
  int voxels = 64;        ///< Per axis.
  double ratio = 10;      ///< Fast to slow velocity.
  int seedsPerVoxel = 4;  ///< Along y and along z.
  double stepVoxels = 1;  ///< Length of a step in fast blocks.
  std::vector<int> blocksPerRank{1, 2, 4, 8, 16};
  int stepsPerHop = 0;  ///< 0: the paper's flow. Else a ring in which every hop changes rank.
  std::vector<int> tracers{1, 64, 4096, 65536};  ///< In the ring; square numbers.
  int hops = 400000;                             ///< In the ring, all tracers together, about.
  int repeat = 5;
  std::vector<std::string> variants;  ///< Names; all if empty.
  double arrivals = 1;                ///< Of the Neighborhood schedule.
  std::string detector;
  std::size_t batchBytes;
  double holdTime;
  DiyOptions diy;
  std::string json;

  ParticlesOptions();
};

/// Our schedules and DIY's two exchanges on the same blocks, kernel and tracers, repetitions
/// interleaved. Collective over MPI_COMM_WORLD; rank 0 prints and writes. Throws tributary::Error
/// if the answers differ or a tracer is lost.
void measureParticles(const ParticlesOptions& options);

}  // namespace bench
