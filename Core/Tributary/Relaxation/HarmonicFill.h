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

/// What a fill continues across the rim of a hole.
enum class FillSmoothness {
  Harmonic,   ///< values
  Biharmonic  ///< values and slopes
};

struct HarmonicFillOptions {
  FillSmoothness smoothness = FillSmoothness::Harmonic;
  /// Of the residual, and of what a biharmonic fill might be corrected yet, as a share of the range
  /// of the known values that count; more than 0.
  double tolerance = 1e-6;
  /// V-cycles, at least 1.
  std::int64_t cycleLimit = 1000;
  /// Of the iterations after the cycles; biharmonic filling has none. Its threshold and norm are
  /// not looked at.
  IterationOptions iteration;
  /// Gauss-Seidel sweeps before values are sent to the neighbors.
  int sweepsPerExchange = 1;
  ParallelFor parallelFor = serialFor;
};

/// What a fill came to: the same on all ranks.
struct HarmonicFillResult {
  Verdict verdict = Verdict::Aborted;
  double lowest = 0, highest = 0;  ///< of the known values that count
  double residual = 0;             ///< verified, in the units of the values
  /// Biharmonic: the largest correction that cycles would make yet, an estimate of the error in the
  /// units of the values; of the verified residual.
  double correction = 0;
  std::int64_t cycles = 0;      ///< V-cycles
  std::int64_t iterations = 0;  ///< sweeps afterwards, of the rank with the most
  std::int64_t snapshots = 0;   ///< residuals of global states that were computed afterwards
};

/// Unknown values on a lattice that is distributed over ranks, from the known ones around them.
///
/// Harmonic: the discrete harmonic function, whose value at each unknown site is the mean of its
/// neighbors', weighted by area over distance; nothing flows through the lattice's border. Of
/// second order. The residual of a site is what its value differs from that mean by, and the known
/// values beside unknown ones count. First conjugate gradients with a multigrid V-cycle
/// (MultigridPreconditioner), in step; values are then put back into the range of the known ones,
/// which a harmonic function does not leave, and asynchronous Gauss-Seidel iterations (Iteration,
/// as the options say) go on from there until the residual of one consistent state of all ranks is
/// verified. So no value is outside of the known ones' range.
///
/// Biharmonic: the values with the least bending energy (BiharmonicOperator), always one answer.
/// The residual of a site is what its value differs from that which has the least energy with the
/// others as they are; known values count up to two sites away. Conjugate gradients on from the
/// harmonic function, with two V-cycles each, all in step: asynchronous sweeps need not converge
/// for this matrix. At the end the residual is computed again from the values, and from it a
/// correction, which have both to be at or below the tolerance. Values may leave the range of the
/// known ones.
class HarmonicFill {
 public:
  /// Collective. Throws Error on all ranks if boxes overlap or leave sites out, if an argument of
  /// any rank is wrong, or if all sites of the lattice are unknown.
  /// @param sites      the same on all ranks
  /// @param box        the sites of this rank, maybe none
  /// @param unknown    not 0 for unknown sites of the box, x fastest
  /// @param options    tolerance, limits and what iterations are like: the same on all ranks
  /// @param transport  outlives the solver
  HarmonicFill(Transport& transport, const SiteLattice& sites, const CellRange& box,
               Span<const std::uint8_t> unknown, const HarmonicFillOptions& options);
  ~HarmonicFill();

  /// Of all ranks.
  std::int64_t unknowns() const;

  /// Collective. Fills in the unknown values, of which the ones there are do not matter, and leaves
  /// the others. Throws Error on all ranks if a known value that counts is not finite.
  /// The values are those reached, whatever the verdict.
  /// @param values   of the box, x fastest
  /// @param monitor  called now and then with how far it is, 0 to 1; false: abort
  HarmonicFillResult fill(Span<double> values, const std::function<bool(double)>& monitor = {});

  /// Of this rank's iterations in all fills.
  const IterationStatistics& statistics() const;

 private:
  class Solver;
  std::unique_ptr<Solver> solver_;
};

}  // namespace tributary
