// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace tributary {

/// The rotation of a vector field around a critical point.
enum class Rotation : std::uint8_t {
  None,    ///< The eigenvalues of the Jacobian are real, or it is symmetric (a gradient).
  Spiral,  ///< Two eigenvalues are complex.
  Center   ///< Two eigenvalues are complex and nearly imaginary.
};

/// The type of a critical point, by the eigenvalues of the Jacobian of the field.
struct CriticalKind {
  static constexpr std::uint8_t Unknown = 255;  ///< The Jacobian is not finite.

  /// The number of eigenvalues with a negative real part; the imaginary eigenvalues of a center do
  /// not count. For the gradient of f it is the index: 0 at a minimum, the dimension at a maximum
  /// of f. For a vector field: 0 at a source, the dimension at a sink.
  std::uint8_t negative = Unknown;
  Rotation rotation = Rotation::None;

  bool operator==(const CriticalKind& other) const {
    return negative == other.negative && rotation == other.rotation;
  }
  bool operator!=(const CriticalKind& other) const { return !(*this == other); }
};

/// Classifies a critical point.
/// @param jacobian   row i is the gradient of component i
/// @param dimension  2 or 3
/// @param center     maximum ratio of the real part to the magnitude of two complex eigenvalues for
///                   a point to be classified as a center rather than a spiral
[[nodiscard]] CriticalKind kindOf(const double jacobian[3][3], int dimension, double center);

/// The name of a critical point of a scalar field: "minimum", "saddle" (in 3-D "1-saddle" and
/// "2-saddle", by the index), "maximum".
[[nodiscard]] std::string nameOfScalarKind(CriticalKind kind, int dimension);
/// The name of a critical point of a vector field: "source", "sink", "saddle" (in 3-D "1-saddle" or
/// "2-saddle", by the number of negative real parts), each with the prefix "spiral " for a spiral,
/// or "center" (in 3-D "center source" or "center sink", by the direction along its axis).
[[nodiscard]] std::string nameOfVectorKind(CriticalKind kind, int dimension);

}  // namespace tributary
