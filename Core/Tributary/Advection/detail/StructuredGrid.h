// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "Tributary/Collective/Assignment.h"

namespace tributary::detail {

/// One axis of a whole grid, the same on every rank. Indices count from 0 at its lower end.
struct GridAxis {
  std::int64_t cells = 0;  ///< 0 for an axis along which the grid is flat.
  bool uniform = true;
  double origin = 0;                 ///< Coordinate of index 0.
  double spacing = 1;                ///< Uniform: distance of neighboring points.
  double inverse = 1;                ///< Uniform: 1 / spacing.
  std::vector<double> coordinates;   ///< Rectilinear: of the cells + 1 points.
  std::vector<double> inverseWidth;  ///< Rectilinear: 1 / width per cell.
  /// Rectilinear: the first cell that may hold a point of each of bucketCount equal intervals.
  std::vector<std::int32_t> buckets;
  double bucketInverse = 0;
  double slack = 0;  ///< Flat: how far from the plane a point may lie.

  /// Coordinate of an index.
  double point(std::int32_t index) const;
  double width(std::int32_t cell) const;
};

/// Points at most this far outside the whole grid, in cells, count as on its boundary: a tolerance
/// for the rounding of coordinates.
constexpr double GridSlack = 1e-9;

/// A grid distributed over any number of blocks: its geometry, and the block that owns each cell.
class StructuredGrid {
 public:
  int number = 0;  ///< StructuredPiece::grid
  std::array<GridAxis, 3> axes;

  struct Part {
    std::array<std::int32_t, 3> lo, hi;  ///< Cells lo <= (i, j, k) < hi.
    BlockId block;
  };
  /// Local. @param parts  of all blocks that own cells
  void setParts(std::vector<Part> parts);
  const std::vector<Part>& parts() const { return parts_; }
  /// The block that owns a cell, or -1.
  [[nodiscard]] BlockId owner(const std::int32_t cell[3]) const;
  /// Cell and fraction of a point by the same arithmetic as the kernels.
  /// @return false outside of the grid
  bool locate(const double point[3], std::array<std::int32_t, 3>& cell, double f[3]) const;

 private:
  std::vector<Part> parts_;
  std::array<std::vector<std::int32_t>, 3> cuts_;  // ascending starts of the lattice's intervals
  std::vector<std::int32_t> lattice_;              // part per lattice box, or -1; may be empty
};

}  // namespace tributary::detail
