// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace tributary::detail {

/// The size of a simplex, and the gradient of the linear function with given values at its corners.
struct SimplexSlope {
  std::array<double, 3> gradient{};
  double size;  ///< Area times 2, volume times 6; the gradient is not finite if it is 0.
};

/// Solves edge[i] . gradient = rise[i], a system of two or three equations.
/// @param edge  from the first corner to each other one
/// @param rise  change of the value along each edge
[[nodiscard]] inline SimplexSlope slopeOf(int dimension, const double edge[3][3],
                                          const double rise[3]) {
  if (dimension == 2) {
    const double det = edge[0][0] * edge[1][1] - edge[0][1] * edge[1][0];
    return {{(rise[0] * edge[1][1] - rise[1] * edge[0][1]) / det,
             (rise[1] * edge[0][0] - rise[0] * edge[1][0]) / det, 0},
            std::fabs(det)};
  }
  double normal[3][3];  // of the plane of the two other edges
  for (int i = 0; i < 3; ++i) {
    const double* u = edge[(i + 1) % 3];
    const double* v = edge[(i + 2) % 3];
    for (int c = 0; c < 3; ++c)
      normal[i][c] = u[(c + 1) % 3] * v[(c + 2) % 3] - u[(c + 2) % 3] * v[(c + 1) % 3];
  }
  const double det =
      edge[0][0] * normal[0][0] + edge[0][1] * normal[0][1] + edge[0][2] * normal[0][2];
  SimplexSlope slope{{}, std::fabs(det)};
  for (std::size_t c = 0; c < 3; ++c)
    slope.gradient[c] =
        (rise[0] * normal[0][c] + rise[1] * normal[1][c] + rise[2] * normal[2][c]) / det;
  return slope;
}

}  // namespace tributary::detail
