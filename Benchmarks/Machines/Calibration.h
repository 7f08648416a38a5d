// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace bench {

struct CalibrationOptions {
  int voxels = 64;  ///< Per axis, of the fields and sets that are measured.
  int repeat = 50;
  std::string json;
};

/// Measures the numbers of a Machine here, as minima of repetitions: messages between ranks 0 and
/// 1, and a union of sets on all ranks; a step, a hand-over and a turn of the exchange on rank 0.
/// Collective over MPI_COMM_WORLD, on at least 2 ranks; rank 0 prints and saves.
void calibrateMachine(const CalibrationOptions& options);

}  // namespace bench
