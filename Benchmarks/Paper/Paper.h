// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace bench {

/// The parameters of measurePaper().
struct PaperOptions {
  std::string figure = "4";
  std::string machine = "theta";                   ///< See findMachine().
  std::vector<int> ranks;                          ///< Simulated; if empty, those of the paper.
  std::vector<int> blocksPerRank{1, 2, 4, 8, 16};  ///< Figure 4.
  /// "exchange": rounds; "iexchange": asynchronous, a call takes all particles that wait in a
  /// block, as in the paper; "library": asynchronous, with the portions of trace(); "lending": the
  /// same, and idle ranks borrow blocks.
  std::vector<std::string> protocols{"exchange", "iexchange", "library", "lending"};
  bool measure = false;  ///< Figure 4: on MPI's ranks, see measureFlow().
  int repeat = 5;        ///< Of measured times.
  int seedsPerVoxel = 4;
  int voxels = 512;      ///< Figures 1 and 4: per axis.
  double ratio = 0;      ///< Fast to slow velocity; 0: that of the paper.
  int packetVoxels = 0;  ///< Edge of a packet; 0: what the protocol needs.
  bool rows = false;     ///< A rank has consecutive blocks along x, instead of blocks in turn.
  // Factors of the machine's numbers, to change one at a time.
  double handoverFactor = 1;
  double stepFactor = 1;
  double turnFactor = 1;
  double networkFactor = 1;  ///< Of latency, overhead, gap and gap per byte.
  double stallSeconds = 0;   ///< Figures 1 and 4: see FlowTraceOptions::stallSeconds.
  int size = 0;              ///< Figures 7 and 9: voxels per axis; 0: that of the paper.
  std::string timeline;      ///< Figure 1: the beginning of the names of two files.
  std::string json;
};

/// Repeats experiments of D. Morozov et al., "IExchange: Asynchronous Communication and Termination
/// Detection for Iterative Algorithms", LDAV 2021, doi:10.1109/LDAV53230.2021.00009, with trace()
/// and uniteSets() on the simulated ranks of a machine: Figure 1, Figure 4 with Table 1, and
/// Figures 7 and 9. Runs on one rank of MPI, unless it measures. Throws tributary::Error if a
/// result is wrong.
void measurePaper(const PaperOptions& options);

}  // namespace bench
