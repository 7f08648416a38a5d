// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <functional>

/// Velocity fields with known properties, for tests.
namespace tributary::testing {

using Vector = std::array<double, 3>;
using Flow = std::function<Vector(const Vector&)>;

/// Solid rotation about the z axis: circles, one turn in 2 pi. Linear, so interpolated exactly.
inline Vector rotation(const Vector& x) {
  return {-x[1], x[0], 0};
}
/// Streamlines keep x * y. Linear too.
inline Vector saddle(const Vector& x) {
  return {x[0], -x[1], 0};
}
/// Arnold-Beltrami-Childress: chaotic, periodic with 2 pi along each axis.
inline Vector abc(const Vector& x) {
  const double a = std::sqrt(3.0), b = std::sqrt(2.0), c = 1;
  return {a * std::sin(x[2]) + c * std::cos(x[1]), b * std::sin(x[0]) + a * std::cos(x[2]),
          c * std::sin(x[1]) + b * std::cos(x[0])};
}

}  // namespace tributary::testing
