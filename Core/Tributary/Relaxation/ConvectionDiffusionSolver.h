// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "Tributary/Base/ParallelFor.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Iteration/Iteration.h"
#include "Tributary/Relaxation/CellGrid.h"
#include "Tributary/Relaxation/ConvectionDiffusion.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

struct ConvectionDiffusionOptions {
  /// Its threshold is for the largest magnitude of b - A u, in concentration per time.
  IterationOptions iteration;
  /// Gauss-Seidel sweeps, forth and back in turns, before values are sent to the neighbors.
  int sweepsPerExchange = 2;
  /// Parts of a rank's box that sweep at once, each with the others' values of before.
  int slabs = 1;
  ParallelFor parallelFor = serialFor;
  /// What a sweep of this rank's box and a residual of it cost on a simulated clock.
  double sweepSeconds = 0, residualSeconds = 0;
};

/// Steps of backward Euler, or the steady state, of convection and diffusion on all ranks, each by
/// non-overlapping additive Schwarz iterations with Gauss-Seidel inside (F. Magoules, G.
/// Gbikpi-Benissan, "JACK2", Advances in Engineering Software 119, 2018, section 5), synchronous or
/// asynchronous. Boxes may cut the grid in any way.
class ConvectionDiffusionSolver {
 public:
  /// Collective. Throws Error on all ranks if the boxes of all ranks overlap or leave cells out, if
  /// one side of an axis is periodic and the other is not, or if an argument of any rank is wrong.
  /// @param grid          the same on all ranks
  /// @param box           the cells of this rank, maybe none
  /// @param faces         see ConvectionDiffusion
  /// @param transport     outlives the solver
  ConvectionDiffusionSolver(Transport& transport, const CellGrid& grid, const CellRange& box,
                            const ConvectionDiffusionTerms& terms, FaceFlow faces,
                            const ConvectionDiffusionOptions& options);

  /// Of this rank's cells, x fastest; 0 in the beginning. What is there when a step begins is both
  /// the concentration of the last step and the first guess.
  Span<double> concentration() { return concentration_; }

  /// Collective. One step in time, or all the way to the steady state.
  /// @param source   per cell, in concentration per time
  /// @param monitor  see Iteration::run()
  IterationResult step(Span<const double> source, const std::function<bool()>& monitor = {});

  /// Of this rank's last step.
  const IterationStatistics& statistics() const { return statistics_; }
  /// Of this rank's last step, see Iteration::history().
  const std::vector<ConvergenceSample>& history() const { return history_; }

 private:
  struct Link {
    int rank;
    std::vector<SidePatch> needs, gives;
    CellRange box;  ///< of that rank
  };

  Transport& transport_;
  ConvectionDiffusionOptions options_;
  std::vector<Link> links_;
  std::vector<SidePatch> own_;  ///< what this rank's box needs of itself, across periodic sides
  std::optional<ConvectionDiffusion> equation_;
  std::vector<double> concentration_;
  IterationStatistics statistics_;
  std::vector<ConvergenceSample> history_;
};

}  // namespace tributary
