// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "Termination/DetectorPrograms.h"

namespace bench {

struct TracerOptions {
  int voxels = 32;            ///< per axis
  double stepSeconds = 3e-7;  ///< on a simulated clock
};

struct TerminationOptions {
  std::string program = "load";        ///< or "walks", "tracer", "diffusion"
  std::vector<std::string> detectors;  ///< empty: all that are right for the program
  std::vector<int> simulate;           ///< numbers of virtual ranks; none: the ranks of MPI
  std::vector<double> means{1, 2, 5, 20, 40};
  std::vector<double> remotePercent{1, 2, 5};
  LoadOptions load;
  WalkOptions walks;
  TracerOptions tracer;
  tributary::DetectorOptions detection;
  int ranksPerNode = 32;
  int repeat = 3;
  std::string json;
};

/// Termination delay, the detector's messages, and what it costs the work itself: experiments of
/// Kocalar, Khokhar and Hambrusch 1999 on a simulated network or on MPI. Collective over
/// MPI_COMM_WORLD (one rank when simulated); rank 0 prints and writes. Throws tributary::Error if
/// the work under two detectors differs, or where one fires too early.
void measureTermination(const TerminationOptions& options);

}  // namespace bench
