// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

struct ModelOptions {
  std::string table = "errors";  ///< or "fits", "rates", "stencils", "tuner", "cost"
  std::int64_t points = 200;     ///< of a subregion along each of two axes
  int threads = 1;               ///< of a rank
  bool master = false;           ///< rank 0 passes on halos and residuals
  int neighbors = 4;             ///< of a point: 4 or 8
  int swapPeriod = 5;
  int residualPeriod = 10;
  double measuredSeconds = 3;    ///< wall time of a measurement
  int timingPeriod = 100;        ///< see HybridOptions
  std::int64_t samples = 20000;  ///< most of each operation that a rank keeps
  double simulatedSeconds = 0.2;
  std::vector<int> swapPeriods{1, 2, 4, 8, 16};                       ///< rates, tuner
  std::vector<double> workShares{0.0625, 0.125, 0.25, 0.5, 0.75, 1};  ///< rates
  double rateSeconds = 0.5;  ///< rates: measured of each pair; 0: predicted only
  std::vector<int> predict;  ///< rates: subregions and threads, for others than those measured
  double tolerance = 1e-3;   ///< tuner
  int repeat = 5;            ///< tuner, cost
  std::uint64_t seed = 1;
  std::string load;  ///< timings that were saved, in place of measuring
  std::string save;
  std::string csv;
  std::string json;
};

/// Compares the performance model of hybrid Jacobi iterations with measurements: tables and figures
/// of E. J. Jensen, E. Coleman, M. Sosonkina, "Predictive modeling of the performance of
/// asynchronous iterative methods", The Journal of Supercomputing 75, 2019. Collective over
/// MPI_COMM_WORLD; rank 0 simulates, prints and saves. Throws tributary::Error for options that
/// cannot be combined.
void measureModel(const ModelOptions& options);

}  // namespace bench
