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

/// What hybrid Jacobi iterations consist of: (a) to (n) of the model's paper, section 6. "Layers"
/// are rows in two dimensions and planes in three; a block is what one thread computes.
enum class Operation {
  CopySideHalo,     ///< (a) a block's halo values to its sides (left and right in the paper)
  CopyEndHalo,      ///< (b) those beyond the subregion's first and last layer (top and bottom)
  CopyNeighbor,     ///< (c) the layer of the next block
  ComputeLayer,     ///< (d) new values of a block's first or last layer
  ComputeInterior,  ///< (e) new values of a layer between them
  PublishSides,     ///< (f) a block's values at the subregion's sides
  PublishEnds,      ///< (g) those of the subregion's first and last layer
  PublishLayer,     ///< (h) a block's first or last layer, for the next block
  ComputeResidual,  ///< (i) a block's part of the residual
  SumResidual,      ///< (j) the subregion's residual, by the communicating thread
  CopyBoundary,     ///< (k) the subregion's values that others need, likewise
  UpdateHalo,       ///< (l) the subregion's halo values, likewise
  MasterResidual,   ///< (m) the global residual, by the master rank
  MasterHalo        ///< (n) a subregion's values in, and its halo values out, likewise
};
constexpr std::size_t Operations = 14;

/// "CopySideHalo", ...
inline std::string nameOf(Operation operation) {
  static constexpr std::array<const char*, Operations> Names = {
      "CopySideHalo", "CopyEndHalo", "CopyNeighbor",   "ComputeLayer",    "ComputeInterior",
      "PublishSides", "PublishEnds", "PublishLayer",   "ComputeResidual", "SumResidual",
      "CopyBoundary", "UpdateHalo",  "MasterResidual", "MasterHalo"};
  return Names[static_cast<std::size_t>(operation)];
}

/// What an iteration of a thread consisted of besides computing.
struct IterationKind {
  bool communicating = false;  ///< of the communicating thread (C), else of another (N)
  bool swap = false;           ///< halos were swapped (S)
  bool residual = false;       ///< the block's residual was computed (R)
  bool reported = false;       ///< and the subregion's was sent (r)

  bool operator==(const IterationKind& other) const {
    return communicating == other.communicating && swap == other.swap &&
           residual == other.residual && reported == other.reported;
  }
};
/// "C_U", "N_UR", "C_USRr", as in the paper's Table 3.
inline std::string nameOf(const IterationKind& kind) {
  return std::string(kind.communicating ? "C_U" : "N_U") + (kind.swap ? "S" : "") +
         (kind.residual ? "R" : "") + (kind.reported ? "r" : "");
}

/// A thread that was without a core for longer was interrupted. A visit of another one for less, or
/// of the system's clock, is like other noise.
constexpr double InterruptionSeconds = 1e-5;

/// Measured seconds of one thread, or of all.
struct OperationTimes {
  std::array<std::vector<double>, Operations> operations;
  std::vector<std::pair<IterationKind, double>> iterations;
  /// Iterations that were interrupted: their thread was without a core for longer than
  /// InterruptionSeconds. How often that happens is no property of the program; one such iteration
  /// may last as long as a hundred others, so that among samples of one in a hundred it is a matter
  /// of luck. So they are kept apart, and operations and layers of such iterations are left out.
  std::vector<std::pair<IterationKind, double>> interrupted;
  /// A block's seconds per layer in an iteration whose layers were timed one by one, and in another
  /// whose layers were timed together.
  std::vector<double> layersOneByOne, layersTogether;

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

  /// Leaves room for as many.
  void clear() {
    for (auto& samples : operations) samples.clear();
    for (auto* samples : {&iterations, &interrupted}) samples->clear();
    for (auto* samples : {&layersOneByOne, &layersTogether}) samples->clear();
  }

  /// Of operations and layers, other than of iterations, so many times as many seconds.
  void scale(double factor) {
    for (auto& samples : operations)
      for (double& seconds : samples) seconds *= factor;
    for (auto* samples : {&layersOneByOne, &layersTogether})
      for (double& seconds : *samples) seconds *= factor;
  }

  /// What timing adds to the seconds of an operation: looking at the clock, and that the processor
  /// overlaps an operation with the next one only if nobody looks in between; for rows of blocks
  /// that do not fit the caches, too, that they are not computed side by side, which makes it too
  /// much for operations other than those of layers. By medians of layers timed both ways in the
  /// same run, so that it is of the same processor in the same mood; none before there are layers
  /// timed both ways. Of L layers timed together one look is left, so that it is too little by the
  /// L-th part of a look.
  std::optional<double> timingSeconds() const {
    if (layersOneByOne.empty() || layersTogether.empty()) return std::nullopt;
    return std::max(0.0, median(layersOneByOne) - median(layersTogether));
  }
};

/// Runs something, and notes how long it took if there is a place for that.
/// @return the seconds; 0 if there is no place
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
