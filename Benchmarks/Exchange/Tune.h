// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace bench {

struct TuneOptions {
  std::vector<std::string> workloads;  ///< Of tuneWorkloads(); all if empty.
  double work = 1;                     ///< Times as many steps for each line.
  std::vector<int> blocksPerRank{1, 4};
  double budget = 0.3;  ///< See tributary::tuneTrace().
  int repeat = 3;       ///< Of the sweep.
  int confirm = 20;     ///< Repetitions in which the best of the sweep and the choice are compared.
  std::string json;
};

std::vector<std::string> tuneWorkloads();

/// Compares the choice of tributary::tuneTrace() with the best of a full sweep over the same
/// settings. Collective over MPI_COMM_WORLD; rank 0 prints and saves. Throws tributary::Error if
/// lines differ between settings.
void measureTune(const TuneOptions& options);

}  // namespace bench
