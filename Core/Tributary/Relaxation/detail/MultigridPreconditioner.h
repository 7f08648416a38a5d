// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "Tributary/Base/ParallelFor.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Relaxation/SiteLattice.h"
#include "Tributary/Relaxation/detail/HarmonicStencil.h"
#include "Tributary/Relaxation/detail/MultigridLevel.h"
#include "Tributary/Transport/Transport.h"

namespace tributary::detail {

/// A multigrid V-cycle for the unknown sites of a lattice, to be used as a preconditioner. It is an
/// approximate inverse of the discrete Laplace operator, symmetric and positive definite, so that
/// conjugate gradients converge with it for holes of any shape. It works in single precision, which
/// suffices for a correction.
///
/// Setup: a coarse site is a block of up to 2 x 2 x 2 sites of which at least one is unknown. Axes
/// with a larger spacing are not coarsened until the other axes have reached it (semi-coarsening).
/// The conductance between coarse sites is the sum of the conductances between their fine sites,
/// divided by the coarsening factor; known values are kept as a conductance to zero. Levels of few
/// sites are replicated on each rank.
///
/// Cycle: corrections are interpolated linearly, and residuals are restricted by the transpose. The
/// smoother is red-black Gauss-Seidel, red first on the way down and last on the way up; sites of
/// one color across a seam are neighbors if their number is odd, and read each other's old values.
/// Apart from rounding, the result does not depend on the decomposition.
///
/// Synchronous: ranks wait for their neighbors on each level.
class MultigridPreconditioner {
 public:
  /// Collective, as are all member functions that are not const. Throws Error on all ranks.
  /// @param transport  outlives the object, as does the messenger
  /// @param boxes  of all ranks
  /// @param unknown  by place in the halo's room, also beside the box; not 0 for unknown sites
  MultigridPreconditioner(Transport& transport, HaloMessenger& messenger, const SiteLattice& sites,
                          const LatticeStencil& stencil, const std::vector<CellRange>& boxes,
                          const SiteHalo& halo, const std::vector<SiteRun>& runs,
                          const std::vector<std::uint8_t>& unknown, ParallelFor parallelFor);

  /// Applies one cycle. Notes errors in the messenger.
  /// @param residual  of the unknown sites, packed
  void apply(Span<const double> residual);
  /// The result of the last cycle, by place in the halo's room: 0 at known sites.
  const float* correction() const { return levels_.front().correction.data(); }

 private:
  void cycle(std::size_t number);
  template <class Rows>
  void cycleWith(const Rows& rows, std::size_t number);
  template <class Rows>
  void halfSweep(const Rows& rows, MultigridLevel& level, int color);
  template <class Rows>
  void restrictResidual(const Rows& rows, const MultigridLevel& fine, MultigridLevel& coarse);
  void gatherRestricted(MultigridLevel& coarse);
  void prolongCorrection(const MultigridLevel& coarse, MultigridLevel& fine);

  Transport& transport_;
  HaloMessenger& messenger_;
  ParallelFor parallelFor_;
  LatticeStencil stencil_;
  std::vector<MultigridLevel> levels_;  ///< the finest first
};

}  // namespace tributary::detail
