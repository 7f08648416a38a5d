// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "Tributary/Relaxation/SiteLattice.h"

namespace tributary::detail {

/// Sites of a kind, unknown ones if nothing else is said, one after the other along x.
struct SiteRun {
  std::int64_t i, j, k;  ///< the first one in the lattice,
  std::int64_t at;       ///< in the room,
  std::int64_t packed;   ///< and among all such sites of the rank
  std::int64_t length;
};

/// Those of the rows of a room's box with a flag.
std::vector<SiteRun> runsOf(const SiteRoom& room, const std::vector<std::uint8_t>& flags);

/// What flows from site to site of a lattice is the difference of their values times the area of
/// the face between what belongs to them, over their distance; nothing flows through the border.
/// Lengths are in units of the shortest mean distance along an axis.
class LatticeStencil {
 public:
  /// Weights of a row of sites; `width(i)` times those of y and z.
  template <class Real>
  struct Row {
    const Real* conductances;  ///< along x, by site: from the one before
    const Real* widths;
    Real area, y0, y1, z0, z1;

    Real before(std::int64_t i) const { return conductances[i] * area; }
    Real after(std::int64_t i) const { return conductances[i + 1] * area; }
    /// What flows to the neighbors' values, in the order of the room.
    Real across(std::int64_t i, const Real* u, std::int64_t sy, std::int64_t sz) const {
      return widths[i] * (y0 * u[-sy] + y1 * u[sy] + z0 * u[-sz] + z1 * u[sz]);
    }
    Real sum(std::int64_t i) const {
      return before(i) + after(i) + widths[i] * (y0 + y1 + z0 + z1);
    }
    Real volume(std::int64_t i) const { return widths[i] * area; }
    /// What flows from a site to its neighbors. @param u  where its value is
    template <class Value>
    Real away(std::int64_t i, const Value* u, std::int64_t sy, std::int64_t sz) const {
      const Real here = *u;
      return before(i) * (here - u[-1]) + after(i) * (here - u[1]) + awayAcross(i, u, sy, sz);
    }
    /// To those along y and z.
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
    const auto b = static_cast<std::size_t>(j), c = static_cast<std::size_t>(k);
    return {axes[0].conductances.data(),         axes[0].widths.data(),
            y.widths[b] * z.widths[c],           y.conductances[b] * z.widths[c],
            y.conductances[b + 1] * z.widths[c], y.widths[b] * z.conductances[c],
            y.widths[b] * z.conductances[c + 1]};
  }
  double volume(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return doubles_[0].widths[static_cast<std::size_t>(i)] *
           doubles_[1].widths[static_cast<std::size_t>(j)] *
           doubles_[2].widths[static_cast<std::size_t>(k)];
  }
  /// Mean distance of sites along an axis, 0 if there is one only.
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
