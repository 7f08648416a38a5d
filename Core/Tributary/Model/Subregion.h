// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "Tributary/Model/LaplaceStencil.h"
#include "Tributary/Relaxation/CellGrid.h"

namespace tributary {

/// Laplace's equation on a uniform grid with given values around it, as in the model's paper,
/// section 3.2.
struct LaplaceProblem {
  LaplaceStencil stencil = LaplaceStencil::FivePoint;
  /// Unknown points along x, y and z; one along z in two dimensions.
  std::array<std::int64_t, 3> points{1, 1, 1};
  /// The value at a point around the unknown ones: an index is -1 or that axis's number of points.
  std::function<double(std::int64_t i, std::int64_t j, std::int64_t k)> boundary;
  /// The value that an unknown one has at first; 0 without.
  std::function<double(std::int64_t i, std::int64_t j, std::int64_t k)> guess;
};

/// Cuts the points of a grid into boxes that are nearly equal, and nearly cubes.
/// @param dimension  along how many axes it is cut
/// @return `parts` boxes; empty ones where there are not enough points
std::vector<CellRange> cutIntoBoxes(const std::array<std::int64_t, 3>& points,
                                    std::size_t dimension, std::int64_t parts);

/// Where one rank's points and those that they need of others are: its box of the grid, the
/// boundary that others need, and the halo that it needs. Points are named by their place in the
/// whole grid.
class Subregion {
 public:
  /// @param boxes  of all ranks, the same everywhere
  Subregion(const LaplaceProblem& problem, std::vector<CellRange> boxes, std::size_t rank);

  const CellRange& box() const { return boxes_[rank_]; }
  /// Unknown points around the box, those at edges and corners included; sorted.
  const std::vector<std::int64_t>& halo() const { return halo_; }
  /// Points of the box that lie at its sides where other boxes go on; sorted.
  const std::vector<std::int64_t>& boundary() const { return boundary_; }

  std::int64_t place(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return (k * points_[1] + j) * points_[0] + i;
  }

  /// Which boundary values another rank needs, as indices into boundary(), in the order in which
  /// they are in that rank's halo.
  std::vector<std::size_t> neededBy(std::size_t other) const;
  /// Which halo values another rank has, as indices into halo(), in the same order.
  std::vector<std::size_t> neededFrom(std::size_t other) const;

 private:
  std::vector<std::int64_t> haloOf(const CellRange& box) const;

  std::array<std::int64_t, 3> points_;
  std::size_t dimension_;
  std::vector<CellRange> boxes_;
  std::size_t rank_;
  std::vector<std::int64_t> halo_;
  std::vector<std::int64_t> boundary_;
};

}  // namespace tributary
