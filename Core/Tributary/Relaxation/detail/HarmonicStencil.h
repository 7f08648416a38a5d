// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "Tributary/Base/Index.h"
#include "Tributary/Relaxation/SiteLattice.h"

namespace tributary::detail {

/// Consecutive sites along x that are all marked, usually as unknown.
struct SiteRun {
  std::int64_t i, j, k;  ///< the first site in the lattice
  std::int64_t at;       ///< its place in the room
  std::int64_t packed;   ///< its number among all marked sites of the rank
  std::int64_t length;   ///< number of sites
};

/// The runs of a room's box, in the order of places.
/// @param flags  by place; not 0 for marked sites
[[nodiscard]] std::vector<SiteRun> runsOf(const SiteRoom& room,
                                          const std::vector<std::uint8_t>& flags);

/// The finite-volume Laplace operator of a lattice. The flux between neighboring sites is the
/// difference of their values times their conductance: the area of the face between their control
/// volumes divided by their distance. No flux crosses the border, except for a seam. Lengths are in
/// units of the smallest mean distance of sites along an axis.
class LatticeStencil {
 public:
  /// The conductances of a row of sites along x. Those along y and z are to be multiplied by
  /// `widths[i]`.
  template <class Real>
  struct Row {
    const Real* conductances;  ///< along x without the area, by site: to the site before
    const Real* widths;
    Real area, y0, y1, z0, z1;

    Real before(std::int64_t i) const { return conductances[i] * area; }
    Real after(std::int64_t i) const { return conductances[i + 1] * area; }
    /// The sum of conductance times value over the neighbors along y and z.
    /// @param u  points to the site's value
    /// @param sy, sz  differences of places along y and z
    Real across(std::int64_t i, const Real* u, std::int64_t sy, std::int64_t sz) const {
      return widths[i] * (y0 * u[-sy] + y1 * u[sy] + z0 * u[-sz] + z1 * u[sz]);
    }
    /// The sum of all conductances of a site.
    Real sum(std::int64_t i) const {
      return before(i) + after(i) + widths[i] * (y0 + y1 + z0 + z1);
    }
    Real volume(std::int64_t i) const { return widths[i] * area; }
    /// The flux from a site to its neighbors. @param u  points to the site's value
    template <class Value>
    Real away(std::int64_t i, const Value* u, std::int64_t sy, std::int64_t sz) const {
      const Real here = *u;
      return before(i) * (here - u[-1]) + after(i) * (here - u[1]) + awayAcross(i, u, sy, sz);
    }
    /// The flux to the neighbors along y and z.
    template <class Value>
    Real awayAcross(std::int64_t i, const Value* u, std::int64_t sy, std::int64_t sz) const {
      const Real here = *u;
      return widths[i] * (y0 * (here - u[-sy]) + y1 * (here - u[sy]) + z0 * (here - u[-sz]) +
                          z1 * (here - u[sz]));
    }
  };

  LatticeStencil() = default;
  explicit LatticeStencil(const SiteLattice& sites);

  template <class Real>
  Row<Real> row(std::int64_t j, std::int64_t k) const {
    const Axis<Real>*axes = axesOf(Real()), &y = axes[1], &z = axes[2];
    const auto b = index(j), c = index(k);
    return {axes[0].conductances.data(),         axes[0].widths.data(),
            y.widths[b] * z.widths[c],           y.conductances[b] * z.widths[c],
            y.conductances[b + 1] * z.widths[c], y.widths[b] * z.conductances[c],
            y.widths[b] * z.conductances[c + 1]};
  }
  double volume(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return doubles_[0].widths[index(i)] * doubles_[1].widths[index(j)] *
           doubles_[2].widths[index(k)];
  }
  /// The mean distance of sites along an axis, 0 if it has one site.
  double spacing(std::size_t axis) const { return spacing_[axis]; }

 private:
  template <class Real>
  struct Axis {
    std::vector<Real> conductances, widths;
  };
  const Axis<double>* axesOf(double) const { return doubles_.data(); }
  const Axis<float>* axesOf(float) const { return floats_.data(); }

  std::array<Axis<double>, 3> doubles_;
  std::array<Axis<float>, 3> floats_;
  std::array<double, 3> spacing_{};
};

}  // namespace tributary::detail
