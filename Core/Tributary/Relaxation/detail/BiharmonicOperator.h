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

/// The matrix of a bending energy of the unknown sites of a lattice: the sum of volume times
/// squared Laplacian, over all sites whose Laplacian has an unknown value in it.
///
/// A site's Laplacian is what flows to it over its volume (LatticeStencil). Nothing flows through
/// the lattice's border to an unknown site; that of a known site at the border is of the other axes
/// alone, as it is not known what lies beyond. So a linear function has no energy if no unknown
/// site is at the border. The matrix is positive definite if any value is known: without energy
/// nothing flows to any unknown site, and only a constant is like that.
class BiharmonicOperator {
 public:
  BiharmonicOperator() = default;
  /// Local. @param sites    how many along each axis
  /// @param runs     of unknown sites of this rank
  /// @param unknown  by place in the halo's room, also beside the box
  BiharmonicOperator(const std::array<std::int64_t, 3>& sites, const LatticeStencil& stencil,
                     const SiteHalo& halo, const std::vector<SiteRun>& runs,
                     std::vector<std::uint8_t> unknown, ParallelFor parallelFor);

  /// Collective: half of the energy's derivative with respect to each unknown value of this rank.
  /// Linear in all values, known ones too.
  /// @param values  by place, also beside the box
  /// @param out     packed
  void apply(SitePost& post, const double* values, double* out);

  /// Of the matrix, packed.
  const std::vector<double>& diagonal() const { return diagonal_; }
  /// This rank's known sites whose Laplacian has an unknown value in it.
  const std::vector<SiteRun>& rim() const { return rim_; }

 private:
  bool isBorder(std::size_t axis, std::int64_t index) const {
    return sites_[axis] > 1 && (index == 0 || index == sites_[axis] - 1);
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
  std::vector<double> laplacian_;  ///< by place, 0 where it does not count
  std::vector<double> diagonal_;
};

}  // namespace tributary::detail
