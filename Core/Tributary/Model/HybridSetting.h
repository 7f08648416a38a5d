// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tributary {

/// Which thread of a rank communicates. Names of the paper's section 4 in brackets.
enum class CommunicatingThread {
  First,           ///< the first, which may have fewer layers [WS1, WSX]
  InTurns,         ///< one after the other [RTINC]
  MostIterations,  ///< the one that has made most iterations [RTMAXIT]
  Dedicated        ///< one that computes nothing, neighbors wait for each other [ASNCDIR]
};

/// What hybrid Jacobi iterations are run with, as far as their times depend on it.
struct HybridSetting {
  int neighbors = 4;  ///< Of a point: 4 or 8 in two dimensions, 6 or 26 in three.
  /// Unknown points along x, y and z; one along z in two dimensions.
  std::array<std::int64_t, 3> points{1, 1, 1};
  /// Ranks that compute: side by side, and one after the other along the layers. They lie in this
  /// order, those side by side first.
  std::array<int, 2> subregions{1, 1};
  bool master = false;  ///< Another rank passes on halos and residuals; else neighbors do.
  int threads = 1;      ///< Of a rank, the dedicated one included.
  CommunicatingThread communicates = CommunicatingThread::First;
  double workShare = 1;  ///< Layers of the first thread as a part of an equal share.
  int swapPeriod = 1;
  int residualPeriod = 10;
};

/// Layers of each thread that computes, the first one with a part of an equal share. No more
/// threads than layers have some; {0} if there are no layers.
std::vector<std::int64_t> sharesOf(std::int64_t layers, std::int64_t threads, double workShare);

/// Throws Error if a setting makes no sense, or leaves a thread without layers.
void check(const HybridSetting& setting);

/// Number of subregions, and of a subregion's layers. @pre check()ed
int subregionsOf(const HybridSetting& setting);
std::int64_t layersOf(const HybridSetting& setting, int subregion);
/// Layers of each thread that computes. @pre check()ed
std::vector<std::int64_t> blocksOf(const HybridSetting& setting, int subregion);

/// Of all ranks. @pre check()ed
std::size_t computingThreadsOf(const HybridSetting& setting);

/// "first", "in-turns", "most-iterations", "dedicated".
std::string nameOf(CommunicatingThread communicates);

}  // namespace tributary
