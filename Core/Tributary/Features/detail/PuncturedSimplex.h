// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

namespace tributary::detail {

/// A vector whose direction is rounded to integers of 41 bits, each with the sign of the component
/// that it is made of: what an exact test sees. Depends on nothing but the vector.
struct RoundedVector {
  std::array<std::int64_t, 3> component{};  ///< At most 2^40, by magnitude.
  int exponent = 0;  ///< The vector is `component` times 2 to this power, to 2^-39 of its largest.
};

/// @param vector  `dimension` finite numbers, of 2 or 3
RoundedVector rounded(const double* vector, int dimension);

/// Whether the linear interpolation of vectors at the corners of a simplex is zero in it: a
/// triangle for vectors of 2 components, a tetrahedron for those of 3. Decided exactly for rounded
/// vectors, and as if each were moved a little, by amounts that differ by orders of magnitude and
/// depend on the order of the corners only (H. Edelsbrunner, E. Muecke, "Simulation of Simplicity",
/// ACM TOG 9, 1990). So no zero lies on the boundary of a simplex: of the facets of a simplex with
/// one more dimension, none or two are punctured, whatever the vectors.
/// @param corners  dimension + 1 of them, in an order that all simplices keep to
bool isPunctured(const RoundedVector* corners, int dimension);

/// Where it is zero: weights of the corners, not negative, with sum 1. Where all depends on the
/// simulated moves, the middle of the corners that have no vector, or of all.
/// @pre isPunctured()
std::array<double, 4> punctureWeights(const RoundedVector* corners, int dimension);

}  // namespace tributary::detail
