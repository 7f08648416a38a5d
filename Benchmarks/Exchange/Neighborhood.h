// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

struct NeighborhoodOptions {
  std::vector<double> arrivals{0, 0.1, 0.25, 0.5, 0.75, 0.9, 1};
  std::vector<int> simulate;        ///< numbers of virtual ranks; none: the ranks of MPI
  std::int64_t particles = 262144;  ///< of all ranks together
  int steps = 1000;                 ///< of each particle, unless it leaves the domain
  double stepCells = 0.5;           ///< mean length of a step, in cells of a grid of 2048^3
  double seedBox = 1;               ///< edge of the cube of seeds, relative to the domain
  int blocksPerRank = 8;
  double slowShare = 0.01;    ///< simulated: of the ranks
  double slowness = 10;       ///< simulated: factor of their computing times
  double slowSeconds = 0;     ///< simulated: then others are slow; 0: always the same
  double stepSeconds = 1e-6;  ///< simulated: a step
  int ranksPerNode = 32;      ///< simulated
  std::string detector = "default";
  std::uint64_t seed = 1;  ///< of the particles' places, and of which ranks are slow when
  int repeat = 1;
  std::string json;
};

/// Measures particle tracing with the neighborhood exchange for several values of `arrivals`, and
/// with the other two schedules: the experiment of T. Peterka, R. Ross, "Versatile Communication
/// Algorithms for Data Analysis", EuroMPI 2012, Figure 5. Runs on the ranks of MPI or on a
/// simulated network. Collective over MPI_COMM_WORLD (one rank if simulated); rank 0 prints and
/// saves. Throws tributary::Error if end points differ between schedules.
void measureNeighborhood(const NeighborhoodOptions& options);

}  // namespace bench
