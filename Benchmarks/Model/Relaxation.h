// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

struct RelaxationOptions {
  std::string part = "convergence";  ///< or history, threads, slow, bandwidth
  std::vector<std::string> variants{"WS", "RTINC", "RTMAXIT", "RTMNRS", "ASNCDIR", "SNCDIR"};
  std::string traffic = "direct";                 ///< or master
  std::vector<std::int64_t> sizes{50, 100, 200};  ///< edges of a rank's square of points
  std::vector<int> swapPeriods{1, 4, 16};
  std::vector<double> workShares{1, 0.5};  ///< threads: of the communicating one
  int threads = 2;
  int residualPeriod = 10;
  double tolerance = 1e-4;
  double timeLimit = 60;        ///< of a run, in seconds; threads: its duration
  double slowMicroseconds = 0;  ///< slow: sleep after an iteration; 0: nine times its duration
  std::int64_t edge = 12288;    ///< bandwidth: points along an edge of the square
  int repeat = 3;
  std::string json, csv;
};

/// Measures hybrid Jacobi iterations: Figures 1 to 4 of E. J. Jensen, E. Coleman, M. Sosonkina,
/// "Predictive modeling of the performance of asynchronous iterative methods", The Journal of
/// Supercomputing 75, 2019. Also compares asynchronous with synchronous iterations if a thread or a
/// rank is slow, and the memory traffic of an iteration with the memory bandwidth. Collective over
/// MPI_COMM_WORLD; rank 0 prints and saves. Throws tributary::Error if the residual of a result
/// differs from the one recomputed from the whole grid.
void measureRelaxation(const RelaxationOptions& options);

}  // namespace bench
