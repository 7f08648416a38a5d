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
  std::vector<std::string> detectors;  ///< empty: all valid ones for the program
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

/// Measures the termination delay, the messages of a detector and its cost to the work, on the
/// ranks of MPI or on a simulated network: the experiments of E. Kocalar, A. Khokhar, S. E.
/// Hambrusch, "Termination Detection: Models and Algorithms for SPMD Computing Paradigms",
/// IPPS/SPDP 1999. The program `tracer` is the particle tracing of D. Morozov et al., "IExchange:
/// Asynchronous Communication and Termination Detection for Iterative Algorithms", LDAV 2021,
/// doi:10.1109/LDAV53230.2021.00009, section 4.1. Collective over MPI_COMM_WORLD (one rank if
/// simulated); rank 0 prints and saves. Throws tributary::Error if the results of the work differ
/// between detectors, or if a detector fires too early.
void measureTermination(const TerminationOptions& options);

}  // namespace bench
