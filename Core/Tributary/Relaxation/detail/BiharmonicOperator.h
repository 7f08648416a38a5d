// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "Tributary/Base/ParallelFor.h"
#include "Tributary/Relaxation/SiteLattice.h"
#include "Tributary/Relaxation/detail/HarmonicStencil.h"

namespace tributary::detail {

/// The matrix of the bending energy of a lattice with unknown sites: the sum of volume times
/// squared Laplacian over all sites whose Laplacian contains an unknown value.
///
/// The Laplacian of a site is the flux to it divided by its volume (LatticeStencil). No flux
/// crosses the border of the lattice to an unknown site. The Laplacian of a known site at the
/// border omits the axis across the border, because the values beyond are not known; a linear
/// function thus has no energy if no unknown site is at the border. The matrix is positive definite
/// if at least one value is known: if the energy is zero, the flux to each unknown site is zero,
/// and only a constant has this property.
class BiharmonicOperator {
 public:
  BiharmonicOperator() = default;
  /// Local.
  /// @param sites  number of sites along each axis
  /// @param runs  of this rank's unknown sites
  /// @param unknown  by place in the halo's room, also beside the box; not 0 for unknown sites
  BiharmonicOperator(const std::array<std::int64_t, 3>& sites, const LatticeStencil& stencil,
                     const SiteHalo& halo, const std::vector<SiteRun>& runs,
                     std::vector<std::uint8_t> unknown, ParallelFor parallelFor);

  /// Collective. Computes half of the energy's derivative with respect to each unknown value of
  /// this rank. The result is linear in all values, also in known ones.
  /// @param values  by place, also beside the box
  /// @param out  packed
  void apply(HaloMessenger& messenger, const double* values, double* out);

  /// The diagonal of the matrix, packed.
  const std::vector<double>& diagonal() const { return diagonal_; }
  /// This rank's known sites whose Laplacian contains an unknown value.
  const std::vector<SiteRun>& rim() const { return rim_; }

 private:
  bool isBorder(std::size_t axis, std::int64_t site) const {
    return sites_[axis] > 1 && (site == 0 || site == sites_[axis] - 1);
  }
  LatticeStencil::Row<double> rimRow(const SiteRun& run) const;
  template <class Visit>
  void visitSevered(const SiteRun& run, Visit&& visit) const;
  void findRim();
  void findDiagonal();

  std::array<std::int64_t, 3> sites_{};
  LatticeStencil stencil_;
  SiteHalo halo_;
  std::vector<SiteRun> runs_, rim_;
  std::vector<std::uint8_t> unknown_;
  ParallelFor parallelFor_;
  std::vector<double> laplacian_;  ///< by place, 0 where it is not in the energy
  std::vector<double> diagonal_;
};

}  // namespace tributary::detail
