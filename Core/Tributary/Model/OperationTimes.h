// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "Tributary/Base/Median.h"
#include "Tributary/Transport/Clock.h"

namespace tributary {

/// The operations of hybrid Jacobi iterations: (a) to (n) in E. J. Jensen, E. Coleman, M.
/// Sosonkina, "Predictive modeling of the performance of asynchronous iterative methods", The
/// Journal of Supercomputing 75, 2019, section 6. "Layers" are rows in two dimensions and planes in
/// three. A block is the part of a subregion that one thread computes.
enum class Operation {
  CopySideHalo,     ///< (a) copy halo values at the sides of a block (left, right in the paper)
  CopyEndHalo,      ///< (b) copy those beyond the first and last layer (top, bottom)
  CopyNeighbor,     ///< (c) copy the adjacent layer of the next block
  ComputeLayer,     ///< (d) compute the first or last layer of a block
  ComputeInterior,  ///< (e) compute a layer between them
  PublishSides,     ///< (f) publish the values of a block at the sides of the subregion
  PublishEnds,      ///< (g) publish those of the first and last layer of the subregion
  PublishLayer,     ///< (h) publish the first or last layer of a block, for the next block
  ComputeResidual,  ///< (i) compute the part of a block in the residual
  SumResidual,      ///< (j) sum the residual of the subregion, by the communicating thread
  CopyBoundary,     ///< (k) copy the values of the subregion that other ranks need, likewise
  UpdateHalo,       ///< (l) update the halo values of the subregion, likewise
  MasterResidual,   ///< (m) compute the global residual, by the master rank
  MasterHalo        ///< (n) receive values of a subregion and send its halo values, likewise
};
/// The number of operations.
constexpr std::size_t Operations = 14;

/// The name of an operation, for instance "CopySideHalo".
inline std::string nameOf(Operation operation) {
  static constexpr std::array<const char*, Operations> Names = {
      "CopySideHalo", "CopyEndHalo", "CopyNeighbor",   "ComputeLayer",    "ComputeInterior",
      "PublishSides", "PublishEnds", "PublishLayer",   "ComputeResidual", "SumResidual",
      "CopyBoundary", "UpdateHalo",  "MasterResidual", "MasterHalo"};
  return Names[static_cast<std::size_t>(operation)];
}

/// The work of a thread in an iteration besides computing.
struct IterationKind {
  bool communicating = false;  ///< by the communicating thread (C) or another thread (N)
  bool swap = false;           ///< halos were swapped (S)
  bool residual = false;       ///< the residual of the block was computed (R)
  bool reported = false;       ///< the residual of the subregion was sent (r)

  bool operator==(const IterationKind& other) const {
    return communicating == other.communicating && swap == other.swap &&
           residual == other.residual && reported == other.reported;
  }
};
/// The name of a kind as in Table 3 of the paper, for instance "C_U", "N_UR" or "C_USRr".
inline std::string nameOf(const IterationKind& kind) {
  return std::string(kind.communicating ? "C_U" : "N_U") + (kind.swap ? "S" : "") +
         (kind.residual ? "R" : "") + (kind.reported ? "r" : "");
}

/// An iteration counts as interrupted if its thread was without a core for longer, in seconds.
/// Shorter interruptions, by another thread or by the timer of the system, count as noise.
constexpr double InterruptionSeconds = 1e-5;

/// Measured durations, in seconds, of one thread or of all threads.
struct OperationTimes {
  std::array<std::vector<double>, Operations> operations;
  std::vector<std::pair<IterationKind, double>> iterations;
  /// Interrupted iterations: their thread was without a core for longer than InterruptionSeconds.
  /// The frequency of interruptions is not a property of the program, and one interrupted iteration
  /// may last as long as a hundred others. If one iteration in a hundred is sampled, chance decides
  /// whether the samples contain one. Therefore interrupted iterations are listed separately, and
  /// their operations and layers are discarded.
  std::vector<std::pair<IterationKind, double>> interrupted;
  /// Seconds per layer of a block, in iterations whose layers were timed one by one and in
  /// iterations whose layers were timed together.
  std::vector<double> layersOneByOne, layersTogether;

  /// Appends the samples of other times.
  void add(const OperationTimes& other) {
    const auto append = [](auto& to, const auto& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    for (std::size_t i = 0; i < Operations; ++i) append(operations[i], other.operations[i]);
    append(iterations, other.iterations);
    append(interrupted, other.interrupted);
    append(layersOneByOne, other.layersOneByOne);
    append(layersTogether, other.layersTogether);
  }

  /// Removes all samples and keeps the allocated memory.
  void clear() {
    for (auto& samples : operations) samples.clear();
    for (auto* samples : {&iterations, &interrupted}) samples->clear();
    for (auto* samples : {&layersOneByOne, &layersTogether}) samples->clear();
  }

  /// Multiplies the durations of operations and layers, but not of iterations, by a factor.
  void scale(double factor) {
    for (auto& samples : operations)
      for (double& seconds : samples) seconds *= factor;
    for (auto* samples : {&layersOneByOne, &layersTogether})
      for (double& seconds : *samples) seconds *= factor;
  }

  /// The overhead that timing adds to the duration of an operation, in seconds: the cost of reading
  /// the clock, and the lost overlap of an operation with the next one in the processor. If the
  /// rows of a block do not fit the caches, it also contains the cost of not computing several rows
  /// side by side; it is then too high for operations other than those of layers.
  ///
  /// The overhead is the difference of the medians of layers timed in both ways in the same run,
  /// and therefore under the same conditions of the processor. L layers timed together still
  /// contain one reading of the clock, so the result is too low by 1 / L of a reading.
  /// @return none without layers timed in both ways
  std::optional<double> timingSeconds() const {
    if (layersOneByOne.empty() || layersTogether.empty()) return std::nullopt;
    return std::max(0.0, median(layersOneByOne) - median(layersTogether));
  }
};

/// Performs an operation and records its duration.
/// @param times  receives the duration; null for none
/// @return the duration in seconds; 0 if `times` is null
template <class Work>
double timed(OperationTimes* times, Operation operation, Work&& work) {
  if (!times) {
    work();
    return 0;
  }
  const double begin = steadySeconds();
  work();
  const double seconds = steadySeconds() - begin;
  times->operations[static_cast<std::size_t>(operation)].push_back(seconds);
  return seconds;
}

}  // namespace tributary
