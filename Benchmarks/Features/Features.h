// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "Components/Components.h"

namespace bench {

struct FeaturesOptions {
  std::int64_t plane = 1024;       ///< Points along each of two axes.
  std::int64_t volume = 96;        ///< Points along each of three axes.
  std::int64_t features = 100000;  ///< Regions of a step of the feature graph, all ranks together.
  int steps = 6;
  ComponentsOptions unions;  ///< Problems, blocks, simulation; the file for JSON.
};

/// What a step costs, on MPI's ranks: critical points found and followed, and regions linked with
/// those of the step before. Then the distributed union-find on the statistics of the two
/// experiments of D. Morozov et al., "IExchange: Asynchronous Communication and Termination
/// Detection for Iterative Algorithms", LDAV 2021, section 4.2 (Figures 7 and 9): see
/// measureComponents(). Of simulated ranks the union-find only. Collective over MPI_COMM_WORLD;
/// rank 0 prints and writes. Throws tributary::Error if a result is wrong.
void measureFeatures(const FeaturesOptions& options);

}  // namespace bench
