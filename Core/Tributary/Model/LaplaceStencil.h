// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace tributary {

/// Discrete Laplace operators: the sum of the differences to the neighbors of a point.
enum class LaplaceStencil {
  FivePoint,        ///< 2-D: neighbors along the axes
  NinePoint,        ///< 2-D: all neighbors in the square around a point
  SevenPoint,       ///< 3-D: neighbors along the axes
  TwentySevenPoint  ///< 3-D: all neighbors in the cube around a point
};

/// The dimension of a stencil, 2 or 3.
[[nodiscard]] std::size_t dimensionOf(LaplaceStencil stencil);
/// The number of neighbors of a point: 4, 8, 6 or 26.
[[nodiscard]] int neighborsOf(LaplaceStencil stencil);

/// Distances in memory between neighbors along y and z; the distance along x is 1.
struct RowStrides {
  std::ptrdiff_t y = 0, z = 0;
};

/// Makes a Jacobi step for a row of points: computes the mean of the neighbors of each point. The
/// order of summation does not depend on the row, so neither do the bits of the result. Local.
/// @param row  the old value of the first point; all neighbors of the row must be accessible
/// @param out  receives the new values; must not overlap the old ones
void jacobiRow(LaplaceStencil stencil, const double* row, const RowStrides& strides,
               std::int64_t count, double* out);

/// The same for several rows at distance strides.y, with writes past the caches: for arrays larger
/// than the caches, whose lines would otherwise be read before they are written. Computes several
/// rows at once to read common values once, if their distance is streamStride(). Call
/// drainStreams() before other threads read the values.
void streamJacobiRows(LaplaceStencil stencil, const double* row, const RowStrides& strides,
                      std::int64_t count, std::int64_t rows, double* out);
/// Makes the writes of streamJacobiRows() visible to other threads.
void drainStreams();
/// The distance of rows of `values` values, at most 79 more: rows at this distance have the same
/// alignment for vector instructions, and the next two rows use other sets of the first-level
/// cache.
[[nodiscard]] std::size_t streamStride(std::size_t values);

/// The sum of the squared residuals (sums of differences to neighbors) over a row of points.
[[nodiscard]] double squaredResidualOfRow(LaplaceStencil stencil, const double* row,
                                          const RowStrides& strides, std::int64_t count);

}  // namespace tributary
