// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "Tributary/Relaxation/SiteLattice.h"
#include "Tributary/Relaxation/detail/HarmonicStencil.h"
#include "Tributary/Transport/Transport.h"

namespace tributary::detail {

/// Linear interpolation from coarse to fine sites along one axis. Beyond the border, values are
/// extended as constants, also beyond a seam.
struct AxisInterpolation {
  /// The coarse sites that a fine site is interpolated from: its block and the block on its other
  /// side.
  struct Weight {
    std::int32_t block = 0, other = 0;
    float weight = 1, otherWeight = 0;
  };

  AxisInterpolation() = default;
  /// @param factor  fine sites per coarse site, 1 or 2
  AxisInterpolation(std::int64_t fineSites, std::int64_t coarseSites, std::int64_t factor);

  std::vector<Weight> weights;  ///< by fine site
};

/// One level of a multigrid hierarchy: this rank's part of a lattice, its equations and the
/// vectors of the cycle. The equations are A u = right, where A u is the sum of the fluxes to all
/// neighbors and to known values.
struct MultigridLevel {
  std::array<std::int64_t, 3> sites{};  ///< along each axis, of all ranks
  std::array<double, 3> spacing{};      ///< mean distance of sites along each axis
  std::array<bool, 3> periodic{};       ///< whether the last sites are neighbors of the first ones
  int coarsenings = 0;                  ///< number of finer levels
  bool isReplicated = false;            ///< whether each rank holds the whole level
  std::vector<CellRange> boxes;         ///< of all ranks; one if the level is replicated
  SiteHalo halo;
  std::vector<SiteRun> runs;      ///< of unknown sites
  std::vector<std::size_t> rows;  ///< index of the first run of each row, and the number of runs
  std::vector<float> correction;  ///< by place
  std::vector<float> right;       ///< by place, on the finest level packed

  std::vector<std::uint8_t> unknown;         ///< by place; not 0 for unknown sites
  std::vector<float> toKnown;                ///< by place: conductance to known values
  std::array<std::vector<float>, 3> before;  ///< by place: conductance to the site before along
                                             ///< each axis; empty on the finest level
  std::vector<float> inverseDiagonal;        ///< by place; empty on the finest level

  std::array<std::int64_t, 3> factor{{1, 1, 1}};   ///< sites per site of the next level
  std::array<AxisInterpolation, 3> interpolation;  ///< from the next level

  // Of a replicated level whose finer level is distributed: the distributed form, in which
  // residuals are summed before they are gathered.
  std::vector<CellRange> partBoxes;  ///< of all ranks
  SiteHalo part;
  std::vector<float> partRight;

  /// Fills `rows` from `runs`.
  void findRows();
  /// Frees what is needed only to construct the next level.
  void freeSetup();
};

/// The finest level. Local, except for `toKnown` beside the box, which the caller must exchange.
/// @param boxes  of all ranks
/// @param unknown  by place in the halo's room, also beside the box
[[nodiscard]] MultigridLevel makeFinestLevel(const std::array<std::int64_t, 3>& sites,
                                             const std::array<bool, 3>& periodic,
                                             const LatticeStencil& stencil,
                                             const std::vector<CellRange>& boxes,
                                             const SiteHalo& halo, const std::vector<SiteRun>& runs,
                                             const std::vector<std::uint8_t>& unknown);

/// Collective. Sets the coarsening factors of a level and its interpolation, and constructs the
/// next level. A coarse site is a block of up to 2 x 2 x 2 sites and is unknown if one of them is.
/// Throws Error on all ranks.
/// @pre the fine level has a site with a neighbor
[[nodiscard]] MultigridLevel coarsen(Transport& transport, HaloMessenger& messenger,
                                     const LatticeStencil& stencil, MultigridLevel& fine);

}  // namespace tributary::detail
