// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "Machines/Machines.h"
#include "Support/DiyRuns.h"

namespace bench {

struct ComponentsOptions {
  std::vector<std::string> problems;  ///< Of componentProblems(); all if empty.
  int size = 0;                       ///< Voxels per axis; 0: each problem's own.
  std::vector<int> blocksPerRank{1, 8};
  int unions = 10;  ///< In a row, for each time.
  int repeat = 5;
  std::vector<int> simulate;  ///< Ranks; empty: MPI's ranks.
  int ranksPerNode = 32;      ///< Simulated.
  double turnSeconds = 0;     ///< Simulated: what a rank computes in a turn of the exchange.
  double noise = 0;           ///< Of that, see VirtualTimeNetworkOptions.
  /// Simulated: instead of the three above, and with the time of links.
  std::optional<Machine> machine;
  std::vector<std::string> variants;  ///< Names; all if empty.
  std::string detector = "default";
  DiyOptions diy;
  std::string json;
};

/// Measures the distributed union-find in interleaved repetitions: Algorithm 8 of D. Morozov et
/// al., "IExchange: Asynchronous Communication and Termination Detection for Iterative Algorithms",
/// LDAV 2021, doi:10.1109/LDAV53230.2021.00009, and the tree union, under all schedules, and
/// Algorithm 8 on DIY's two exchanges; or ours on a simulated network. There, "Labels Dense" is
/// Algorithm 8 in rounds in which each rank sends a message to all blocks around its own, empty or
/// not, as DIY's exchange does; it needs one block per rank and is measured only if it is in the
/// list of variants. Collective over MPI_COMM_WORLD; rank 0 prints and saves. Throws
/// tributary::Error if a result is wrong.
void measureComponents(const ComponentsOptions& options);

}  // namespace bench
