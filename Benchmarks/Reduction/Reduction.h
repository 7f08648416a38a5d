// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "Tributary/Reduction/ArrayMerge.h"

namespace bench {

struct ReductionOptions {
  std::vector<std::string> patterns{"merge", "swap"};
  std::string combine = "over";  ///< Or "none": communication only.
  std::vector<std::int64_t> pixels{256, 4096, 65536, 262144, 1048576};  ///< Of 16 bytes.
  std::vector<int> k{2, 4, 8, 16, 0};                                   ///< 0: all blocks at once.
  int blocksPerRank = 1;
  int threads = 1;
  std::size_t segmentBytes = tributary::ArrayMergeBytes::DefaultSegmentBytes;
  std::vector<int> simulate;  ///< Numbers of ranks; on MPI if empty.
  int ranksPerNode = 32;
  double pixelSeconds = 1e-9;  ///< Simulated: of the operator.
  int repeat = 7;
  std::vector<std::string> variants;  ///< Names; all if empty.
  std::string json;
};

/// Measures merge and swap reductions of images and finds the best k for each size: the experiment
/// of T. Peterka, R. Ross, "Versatile Communication Algorithms for Data Analysis", EuroMPI 2012,
/// section 4.1. Compares them with those of MPI and DIY or, simulated, with plain algorithms.
/// Collective over MPI_COMM_WORLD; rank 0 prints and saves. Throws tributary::Error if the image of
/// a variant is wrong or a variant does not combine every pixel once.
void measureReduction(const ReductionOptions& options);

}  // namespace bench
