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

/// Laplace's equation on a uniform grid with given boundary values, as in section 3.2 of the paper
/// (see HybridJacobi).
struct LaplaceProblem {
  LaplaceStencil stencil = LaplaceStencil::FivePoint;
  /// Unknown points along x, y and z; 1 along z in two dimensions.
  std::array<std::int64_t, 3> points{1, 1, 1};
  /// The value at a boundary point, of which an index is -1 or the number of points along the axis.
  std::function<double(std::int64_t i, std::int64_t j, std::int64_t k)> boundary;
  /// The initial guess at an unknown point. Default: 0 at all points.
  std::function<double(std::int64_t i, std::int64_t j, std::int64_t k)> guess;
};

/// Divides the points of a grid into boxes of nearly equal size that are nearly cubes.
/// @param dimension  the number of axes that are divided
/// @return `parts` boxes; some are empty if there are too few points
[[nodiscard]] std::vector<CellRange> cutIntoBoxes(const std::array<std::int64_t, 3>& points,
                                                  std::size_t dimension, std::int64_t parts);

/// The box of a rank, the boundary points whose values other ranks need, and the halo points whose
/// values this rank needs. Points are identified by their place in the whole grid. Local.
class Subregion {
 public:
  /// @param boxes  of all ranks; the same on all ranks
  Subregion(const LaplaceProblem& problem, std::vector<CellRange> boxes, std::size_t rank);

  /// The points of this rank.
  const CellRange& box() const { return boxes_[rank_]; }
  /// The unknown points around the box, with those at edges and corners; sorted.
  const std::vector<std::int64_t>& halo() const { return halo_; }
  /// The points of the box that are adjacent to other boxes; sorted.
  const std::vector<std::int64_t>& boundary() const { return boundary_; }

  /// The place of a point in the whole grid.
  std::int64_t place(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return (k * points_[1] + j) * points_[0] + i;
  }

  /// The boundary values that another rank needs: indices into boundary(), in the order of the halo
  /// of that rank.
  std::vector<std::size_t> neededBy(std::size_t other) const;
  /// The halo values that another rank owns: indices into halo(), in ascending order.
  std::vector<std::size_t> neededFrom(std::size_t other) const;

 private:
  std::vector<std::int64_t> haloOf(const CellRange& box) const;
  /// The indices in `places`, which are sorted, of the points of `owner` that `user` needs.
  std::vector<std::size_t> indicesOf(const std::vector<std::int64_t>& places, std::size_t owner,
                                     std::size_t user) const;

  std::array<std::int64_t, 3> points_;
  std::size_t dimension_;
  std::vector<CellRange> boxes_;
  std::size_t rank_;
  std::vector<std::int64_t> halo_;
  std::vector<std::int64_t> boundary_;
};

}  // namespace tributary
