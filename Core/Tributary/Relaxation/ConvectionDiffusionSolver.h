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

/// Options of ConvectionDiffusionSolver.
struct ConvectionDiffusionOptions {
  /// The threshold is for the largest magnitude of b - A u, in concentration per time.
  IterationOptions iteration;
  /// Gauss-Seidel sweeps per iteration, alternately forward and backward, before values are sent to
  /// the neighbors; at least 1. Default: 2.
  int sweepsPerExchange = 2;
  /// Parts of a rank's box that are swept in parallel, at least 1. See
  /// ConvectionDiffusion::sweep(). Default: 1.
  int slabs = 1;
  /// The loop over the parts. Default: one thread.
  ParallelFor parallelFor = serialFor;
  /// Seconds that a sweep of this rank's box and its residual take on a simulated clock.
  double sweepSeconds = 0, residualSeconds = 0;
};

/// Solves the convection-diffusion equation on a distributed grid: steps of backward Euler, or the
/// steady state. Each is solved by non-overlapping additive Schwarz iterations with Gauss-Seidel
/// sweeps in the subdomains, synchronous or asynchronous: F. Magoulès, G. Gbikpi-Benissan, "JACK2:
/// An MPI-based communication library with non-blocking synchronization for asynchronous
/// iterations", Advances in Engineering Software 119, 2018, doi:10.1016/j.advengsoft.2018.01.009,
/// Section 5. The grid can be decomposed into boxes in any way.
class ConvectionDiffusionSolver {
 public:
  /// Collective.
  /// @param transport  outlives the solver
  /// @param grid  the same on all ranks
  /// @param box  this rank's cells, may be empty
  /// @param terms  the same on all ranks
  /// @param faces  the flow through the faces of the box, see flowBetween()
  /// @throws Error on all ranks if boxes overlap or do not cover the grid, or if an argument of any
  ///         rank is invalid (see ConvectionDiffusion)
  ConvectionDiffusionSolver(Transport& transport, const CellGrid& grid, const CellRange& box,
                            const ConvectionDiffusionTerms& terms, FaceFlow faces,
                            const ConvectionDiffusionOptions& options);

  /// The concentration of this rank's cells, x fastest. Initially 0. A step reads it as the
  /// concentration of the last step and as the initial guess, and replaces it.
  Span<double> concentration() { return concentration_; }

  /// Collective. Computes one time step, or the steady state.
  /// @param source  by cell, in concentration per time
  /// @param monitor  see Iteration::run(); also called between the sweeps of an iteration, with the
  ///                 progress in [0, 1]: by orders of magnitude of this rank's residual
  /// @throws Error on all ranks if the size of `source` is wrong on any rank
  [[nodiscard]] IterationResult step(Span<const double> source,
                                     const std::function<bool(double)>& monitor = {});

  /// Statistics of this rank's last step.
  const IterationStatistics& statistics() const { return statistics_; }
  /// The convergence history of the last step, see Iteration::history().
  const std::vector<ConvergenceSample>& history() const { return history_; }

 private:
  /// A neighbor rank.
  struct Link {
    int rank;
    std::vector<SidePatch> needs, gives;
  };

  Transport& transport_;
  ConvectionDiffusionOptions options_;
  std::vector<Link> links_;
  std::vector<SidePatch> own_;  ///< of this rank's own box, across periodic sides
  std::optional<ConvectionDiffusion> equation_;
  std::vector<double> concentration_;
  IterationStatistics statistics_;
  std::vector<ConvergenceSample> history_;
};

}  // namespace tributary
