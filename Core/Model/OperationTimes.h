#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

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
  static constexpr std::array<const char*, Operations> names = {
      "CopySideHalo", "CopyEndHalo", "CopyNeighbor",   "ComputeLayer",    "ComputeInterior",
      "PublishSides", "PublishEnds", "PublishLayer",   "ComputeResidual", "SumResidual",
      "CopyBoundary", "UpdateHalo",  "MasterResidual", "MasterHalo"};
  return names[static_cast<std::size_t>(operation)];
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

/// Measured seconds of one thread, or of all.
struct OperationTimes {
  std::array<std::vector<double>, Operations> operations;
  std::vector<std::pair<IterationKind, double>> iterations;

  void add(const OperationTimes& other) {
    for (std::size_t i = 0; i < Operations; ++i)
      operations[i].insert(operations[i].end(), other.operations[i].begin(),
                           other.operations[i].end());
    iterations.insert(iterations.end(), other.iterations.begin(), other.iterations.end());
  }
};

/// Runs something, and notes how long it took if there is a place for that.
template <class Work>
void timed(OperationTimes* times, Operation operation, Work&& work) {
  if (!times) return work();
  const double begin = steadySeconds();
  work();
  times->operations[static_cast<std::size_t>(operation)].push_back(steadySeconds() - begin);
}

}  // namespace tributary
