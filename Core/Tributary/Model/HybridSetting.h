// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tributary {

/// The thread of a rank that communicates. In brackets the names of E. J. Jensen, E. Coleman, M.
/// Sosonkina, "Predictive modeling of the performance of asynchronous iterative methods", The
/// Journal of Supercomputing 75, 2019, section 4.
enum class CommunicatingThread {
  First,           ///< the first, which may have fewer layers [WS1, WSX]
  InTurns,         ///< threads in turns [RTINC]
  MostIterations,  ///< the thread with the most iterations [RTMAXIT]
  Dedicated        ///< a thread that computes nothing; neighbor ranks wait for each other [ASNCDIR]
};

/// The parameters of hybrid Jacobi iterations that affect their duration.
struct HybridSetting {
  int neighbors = 4;  ///< Neighbors of a point: 4 or 8 in two dimensions, 6 or 26 in three.
  /// Unknown points along x, y and z; 1 along z in two dimensions.
  std::array<std::int64_t, 3> points{1, 1, 1};
  /// Numbers of computing ranks across the layers and along them. Ranks are numbered across the
  /// layers first.
  std::array<int, 2> subregions{1, 1};
  bool master = false;  ///< Whether another rank, the master, forwards halos and residuals.
  int threads = 1;      ///< Threads per rank, with the dedicated one.
  CommunicatingThread communicates = CommunicatingThread::First;
  double workShare = 1;     ///< Layers of the first thread relative to an equal share.
  int swapPeriod = 1;       ///< Iterations between two swaps of halos.
  int residualPeriod = 10;  ///< Iterations between two residuals.
};

/// The layers of each computing thread, of which the first has `workShare` times an equal share. At
/// most `layers` entries; {0} without layers.
[[nodiscard]] std::vector<std::int64_t> sharesOf(std::int64_t layers, std::int64_t threads,
                                                 double workShare);

/// Throws Error if a setting is invalid, or leaves a thread without layers.
void check(const HybridSetting& setting);

/// The number of subregions. @pre check()ed
[[nodiscard]] int subregionsOf(const HybridSetting& setting);
/// The number of layers of a subregion. @pre check()ed
[[nodiscard]] std::int64_t layersOf(const HybridSetting& setting, int subregion);
/// The layers of each computing thread of a subregion. @pre check()ed
[[nodiscard]] std::vector<std::int64_t> blocksOf(const HybridSetting& setting, int subregion);

/// The number of computing threads of all ranks. @pre check()ed
[[nodiscard]] std::size_t computingThreadsOf(const HybridSetting& setting);

/// The name in timing files: "first", "in-turns", "most-iterations" or "dedicated".
[[nodiscard]] std::string nameOf(CommunicatingThread communicates);

}  // namespace tributary
