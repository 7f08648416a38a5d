// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "Tributary/Base/ParallelFor.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Iteration/Iteration.h"
#include "Tributary/Relaxation/SiteLattice.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// The continuity of a fill across the rim of a hole.
enum class FillSmoothness {
  Harmonic,   ///< values are continuous
  Biharmonic  ///< values and slopes are continuous
};

/// Options of HarmonicFill.
struct HarmonicFillOptions {
  /// Default: Harmonic.
  FillSmoothness smoothness = FillSmoothness::Harmonic;
  /// Limit of the residual, and of the correction of a biharmonic fill, relative to the range of
  /// the known values that the fill depends on; greater than 0. Default: 1e-6.
  double tolerance = 1e-6;
  /// Maximum number of V-cycles, at least 1. Default: 1000.
  std::int64_t cycleLimit = 1000;
  /// Options of the iterations after the cycles, without effect on a biharmonic fill. The threshold
  /// and the norm are ignored.
  IterationOptions iteration;
  /// Gauss-Seidel sweeps per iteration before values are sent to the neighbors, at least 1.
  /// Default: 1.
  int sweepsPerExchange = 1;
  /// The loop over a rank's sites. The result does not depend on it. Default: one thread.
  ParallelFor parallelFor = serialFor;
};

/// The result of a fill, the same on all ranks.
struct HarmonicFillResult {
  Verdict verdict = Verdict::Aborted;
  double lowest = 0, highest = 0;  ///< range of the known values that the fill depends on
  double residual = 0;             ///< verified, in the units of the values
  /// Biharmonic only: the largest correction by two further cycles, computed from the verified
  /// residual. It estimates the error in the units of the values.
  double correction = 0;
  std::int64_t cycles = 0;      ///< V-cycles
  std::int64_t iterations = 0;  ///< iterations after the cycles, of the rank with the most
  std::int64_t snapshots = 0;   ///< residuals of global states computed after the cycles
};

/// Computes unknown values on a distributed lattice from the known values around them.
///
/// Harmonic: solves the discrete Laplace equation, of second order. The value of each unknown site
/// is the mean of its neighbors' values, weighted by area over distance; no flux crosses the border
/// of the lattice, unless it has a seam there. The residual of a site is the difference of its
/// value from that mean. The fill depends on the known values beside unknown ones. First, conjugate
/// gradients with a multigrid V-cycle as preconditioner (detail::MultigridPreconditioner) run
/// synchronously. The values are then clamped to the range of the known ones, because a harmonic
/// function remains within it. Finally, Gauss-Seidel iterations (Iteration), asynchronous by
/// default, continue until the residual of a consistent global state is verified. No value is
/// outside the range of the known values.
///
/// Biharmonic, only without a seam: minimizes the bending energy (detail::BiharmonicOperator); the
/// minimum is unique. The residual of a site is the difference of its value from the one that
/// minimizes the energy for the given other values. The fill depends on known values up to two
/// sites away. Conjugate gradients with two V-cycles per correction start from the harmonic
/// function and run synchronously: asynchronous sweeps need not converge for this matrix. At the
/// end, the residual and the correction are recomputed from the values, and both must be at or
/// below the tolerance. Values may leave the range of the known values.
class HarmonicFill {
 public:
  /// Collective.
  /// @param transport  outlives the solver
  /// @param sites  the same on all ranks
  /// @param box  this rank's sites, may be empty
  /// @param unknown  not 0 for unknown sites of the box, x fastest
  /// @param options  the same on all ranks, except for parallelFor
  /// @throws Error on all ranks if boxes overlap or do not cover the lattice, if an argument of any
  ///         rank is invalid, or if all sites of the lattice are unknown
  HarmonicFill(Transport& transport, const SiteLattice& sites, const CellRange& box,
               Span<const std::uint8_t> unknown, const HarmonicFillOptions& options);
  ~HarmonicFill();

  /// The number of unknown sites of all ranks. Local.
  [[nodiscard]] std::int64_t unknowns() const;

  /// Collective. Replaces the unknown values and leaves the known ones unchanged. The unknown
  /// values are not read. They are replaced for any verdict.
  /// @param values  of the box, x fastest
  /// @param monitor  called regularly with the progress in [0, 1]; returns false to abort
  /// @throws Error on all ranks if a known value that the fill depends on is not finite, or if the
  ///         monitor of any rank throws
  [[nodiscard]] HarmonicFillResult fill(Span<double> values,
                                        const std::function<bool(double)>& monitor = {});

  /// Statistics of this rank's iterations in all fills.
  const IterationStatistics& statistics() const;

 private:
  class Solver;
  std::unique_ptr<Solver> solver_;
};

}  // namespace tributary
