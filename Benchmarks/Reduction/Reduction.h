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

/// Merge and swap reductions of images (T. Peterka, R. Ross, "Versatile Communication Algorithms
/// for Data Analysis", section 4.1) beside MPI's and DIY's, or simulated beside plain algorithms,
/// and the best k for each size. Collective over MPI_COMM_WORLD; rank 0 prints and writes. Throws
/// tributary::Error if a variant's image is wrong or it did not combine every pixel once.
void measureReduction(const ReductionOptions& options);

}  // namespace bench
