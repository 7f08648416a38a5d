// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace tributary {

/// Discrete Laplace operators: the sum of differences to these neighbors.
enum class LaplaceStencil {
  FivePoint,        ///< 2-D: along the axes
  NinePoint,        ///< 2-D: all in the square around a point
  SevenPoint,       ///< 3-D: along the axes
  TwentySevenPoint  ///< 3-D: all in the cube around a point
};

/// 2 or 3.
std::size_t dimensionOf(LaplaceStencil stencil);
/// How many neighbors a point has: 4, 8, 6, 26.
int neighborsOf(LaplaceStencil stencil);

/// Distances in memory between neighbors along y and z; along x it is 1.
struct RowStrides {
  std::ptrdiff_t y = 0, z = 0;
};

/// A Jacobi step for a row of points: the mean of each point's neighbors. Sums in an order of its
/// own that does not depend on the row, so that the bits do not either.
/// @param row  the first point's old value, with all neighbors around the row
/// @param out  the new values, elsewhere
void jacobiRow(LaplaceStencil stencil, const double* row, const RowStrides& strides,
               std::int64_t count, double* out);

/// The same for so many rows, strides.y apart, written past the caches: for arrays that do not stay
/// in them, whose lines would otherwise be read before they are written. Others see it after
/// drainStreams(). Several rows at once, so that what they share is read once, where streamStride()
/// says how far they are apart.
void streamJacobiRows(LaplaceStencil stencil, const double* row, const RowStrides& strides,
                      std::int64_t count, std::int64_t rows, double* out);
void drainStreams();
/// So many values, or up to 79 more: rows that far apart lie alike in vectors, and neither the next
/// row nor the one after it lies in the same places of the first cache.
std::size_t streamStride(std::size_t values);

/// The sum over a row of points of the squares of their residuals: of the sum of differences.
double squaredResidualOfRow(LaplaceStencil stencil, const double* row, const RowStrides& strides,
                            std::int64_t count);

}  // namespace tributary
