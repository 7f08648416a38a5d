// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

struct IterationsOptions {
  std::string table = "detection";  ///< or "sends"
  std::vector<int> simulate;        ///< numbers of virtual ranks; none: the ranks of MPI
  std::int64_t cells = 32;          ///< per axis
  double residualThreshold = 1e-6;  ///< of the largest magnitude of b - A u
  double inverseStep = 1;           ///< 1 / time step
  std::vector<int> receives{1, 2, 3, 4, 5, 20, 50};  ///< sends: receives started for a neighbor
  std::int64_t paperCells = 185;     ///< simulated: per axis of the problem that times are those of
  double cellSeconds = 40e-9;        ///< simulated: a cell's share of a sweep
  double residualSeconds = 10.5e-9;  ///< simulated: a cell's share of a residual
  double noise = 0;                  ///< simulated: see VirtualTimeNetworkOptions
  double slowSpeed = 1;              ///< simulated: of one rank in the middle
  int ranksPerNode = 24;             ///< simulated
  std::uint64_t seed = 1;            ///< simulated: of the noise
  int repeat = 1;
  std::string json;
};

/// Measures a convection-diffusion step by asynchronous iterations, on the ranks of MPI or on a
/// simulated network: Tables 1 to 3 of F. Magoulès, G. Gbikpi-Benissan, "JACK2: An MPI-based
/// communication library with non-blocking synchronization for asynchronous iterations", Advances
/// in Engineering Software 119, 2018, doi:10.1016/j.advengsoft.2018.01.009. Collective over
/// MPI_COMM_WORLD (one rank if simulated); rank 0 prints and saves. Throws tributary::Error if the
/// residual of a result, recomputed from the whole grid, exceeds the threshold.
void measureIterations(const IterationsOptions& options);

}  // namespace bench
