// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "Balance/LentTracers.h"
#include "Tributary/Exchange/Exchange.h"

namespace bench {

/// The parameters of measureBalance().
struct BalanceOptions {
  std::vector<std::string> seeds{"plane", "sixteenth", "block", "even"};
  std::vector<std::string> variants;  ///< Names; all if empty.
  std::vector<int> simulate;          ///< Numbers of virtual ranks. Empty: the ranks of MPI.
  int voxels = 0;                     ///< Per axis. 0: 64, or 512 if simulated.
  int blocksPerRank = 4;
  double ratio = 10;            ///< Fast to slow velocity.
  int seedsPerVoxel = 4;        ///< Along y and along z.
  double stepVoxels = 1;        ///< Length of a step in fast blocks.
  TracingOptions tracing;       ///< TracingOptions::tracersPerItem is not used.
  double memory = 512;          ///< MiB: the limit of the copies on a rank.
  double stepSeconds = 100e-9;  ///< Simulated: of a step.
  double copyRate = 5e9;        ///< Simulated: bytes per second of writing and of reading a copy.
  int ranksPerNode = 32;        ///< Simulated.
  tributary::ExchangeOptions exchange;  ///< The schedule is not used.
  int repeat = 5;                       ///< On MPI's ranks; simulations are repeatable.
  std::string json;
  std::string
      timeline;  ///< Not empty: the timelines of each variant are written to files with this
                 ///< name, the case and the variant. On MPI's ranks, of the last repetition.
};

/// Measures what lending brings in the slow-block flow (see SlowBlockFlow.h), for several
/// distributions of the seeds: all schedules, the asynchronous one also with lending, and the mean
/// load, a lower bound of the time. Runs on the ranks of MPI or on a simulated network. Collective
/// over MPI_COMM_WORLD (one rank if simulated); rank 0 prints and saves. Throws tributary::Error if
/// end points differ between variants or a tracer is lost.
void measureBalance(const BalanceOptions& options);

}  // namespace bench
