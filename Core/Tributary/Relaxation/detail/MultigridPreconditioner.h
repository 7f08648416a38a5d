// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "Tributary/Base/ParallelFor.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Relaxation/SiteLattice.h"
#include "Tributary/Relaxation/detail/HarmonicStencil.h"
#include "Tributary/Transport/Transport.h"

namespace tributary::detail {

/// A multigrid V-cycle for the unknown sites of a lattice: an approximate inverse of the fluxes'
/// matrix, symmetric and positive definite, so that conjugate gradients converge with it whatever
/// the holes look like. In single precision, which is enough for a correction.
///
/// A coarse site is a block of up to 2 x 2 x 2 sites of which one is unknown; axes whose sites are
/// far apart are not coarsened before the others have caught up (semi-coarsening). Between coarse
/// sites flows what flows between their parts, over a distance that has grown with them; what flows
/// to known values is kept as a conductance to zero. Corrections are interpolated linearly, and
/// residuals are gathered by the transpose. Smoothing is red-black Gauss-Seidel, red first on the
/// way down and last on the way up. Sums and messages aside the cycle is the same on any cut.
/// Levels of few sites are known whole to each rank.
///
/// Synchronous: on each level neighbors wait for each other.
class MultigridPreconditioner {
 public:
  /// Collective, as all member functions. @param boxes  of all ranks
  /// @param unknown  by place in the halo's room, also beside the box
  MultigridPreconditioner(Transport& transport, SitePost& post, const SiteLattice& sites,
                          const LatticeStencil& stencil, const std::vector<CellRange>& boxes,
                          const SiteHalo& halo, const std::vector<SiteRun>& runs,
                          const std::vector<std::uint8_t>& unknown, ParallelFor parallelFor);
  ~MultigridPreconditioner();

  /// One cycle. @param residual  of the unknown sites, packed
  void correct(Span<const double> residual);
  /// Of the last cycle, by place in the halo's room: 0 where nothing is unknown.
  const float* correction() const;

  int levels() const;

 private:
  struct Level;
  struct Transfer;

  std::unique_ptr<Level> coarser(const Level& fine);
  void makeWhole(Level& level);
  void cycle(std::size_t at);
  template <class Rows>
  void descend(Level& level, const Rows& rows, Level& coarse);

  Transport& transport_;
  SitePost& post_;
  ParallelFor parallelFor_;
  LatticeStencil stencil_;
  std::vector<std::unique_ptr<Level>> levels_;
};

}  // namespace tributary::detail
