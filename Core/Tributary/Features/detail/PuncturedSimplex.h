// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

namespace tributary::detail {

/// A vector with its components rounded to integers of 41 bits, which keep their signs: the input
/// of the exact test. It depends on the vector only.
struct RoundedVector {
  std::array<std::int64_t, 3> component{};  ///< Magnitudes of at most 2^40.
  int exponent = 0;  ///< The vector is component * 2^exponent, to 2^-39 of its largest.
};

/// Rounds a vector.
/// @param vector     `dimension` finite numbers
/// @param dimension  2 or 3
[[nodiscard]] RoundedVector rounded(const double* vector, int dimension);

/// Whether the linear interpolation of vectors at the corners of a simplex is zero in it: a
/// triangle for vectors of 2 components, a tetrahedron for vectors of 3. The test is exact for the
/// rounded vectors, and symbolically perturbs each of them by amounts that differ by orders of
/// magnitude and depend on the order of the corners only (H. Edelsbrunner, E. Muecke, "Simulation
/// of Simplicity", ACM TOG 9, 1990, doi:10.1145/77635.77639). No zero thus lies on the boundary of
/// a simplex: for any vectors, none or two of the facets of a simplex with one more dimension are
/// punctured.
/// @param corners  dimension + 1 vectors, in a global order of the corners
[[nodiscard]] bool isPunctured(const RoundedVector* corners, int dimension);

/// The barycentric coordinates of the zero: weights of the corners, not negative, with sum 1. If it
/// depends on the perturbation only, the mean of the corners with a zero vector, or of all corners.
/// @pre isPunctured()
[[nodiscard]] std::array<double, 4> punctureWeights(const RoundedVector* corners, int dimension);

}  // namespace tributary::detail
