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

/// Measures a time step on the ranks of MPI: finding and tracking critical points, and linking
/// regions with those of the previous step. Then measures the distributed union-find on problems
/// with the statistics of the two experiments of D. Morozov et al., "IExchange: Asynchronous
/// Communication and Termination Detection for Iterative Algorithms", LDAV 2021,
/// doi:10.1109/LDAV53230.2021.00009, section 4.2 (Figures 7 and 9); see measureComponents().
/// Simulated ranks run the union-find only. Collective over MPI_COMM_WORLD; rank 0 prints and
/// saves. Throws tributary::Error if a result is wrong.
void measureFeatures(const FeaturesOptions& options);

}  // namespace bench
