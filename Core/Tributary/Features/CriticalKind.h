// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace tributary {

/// How a vector field turns around a point where it is zero.
enum class Rotation : std::uint8_t {
  None,    ///< The Jacobian's eigenvalues are real, or it is symmetric (a gradient's).
  Spiral,  ///< Two are complex.
  Center   ///< Two are complex, and about imaginary.
};

/// What a critical point is like, by the eigenvalues of the field's Jacobian there.
struct CriticalKind {
  static constexpr std::uint8_t Unknown = 255;  ///< The Jacobian is not finite.

  /// How many have a negative real part. Of the gradient of f it is the index: 0 at a minimum, the
  /// dimension at a maximum of f. Of a vector field: 0 at a source, the dimension at a sink. Those
  /// of a center do not count.
  std::uint8_t negative = Unknown;
  Rotation rotation = Rotation::None;

  bool operator==(const CriticalKind& other) const {
    return negative == other.negative && rotation == other.rotation;
  }
  bool operator!=(const CriticalKind& other) const { return !(*this == other); }
};

/// @param jacobian   row i: the gradient of component i
/// @param dimension  2 or 3
/// @param center     two complex eigenvalues whose real part is at most so large a share of their
///                   magnitude make a center
CriticalKind kindOf(const double jacobian[3][3], int dimension, double center);

/// "minimum", "saddle" (in 3-D "1-saddle" and "2-saddle", by the index), "maximum".
std::string nameOfScalarKind(CriticalKind kind, int dimension);
/// "source", "sink", "saddle" (in 3-D "1-saddle" or "2-saddle", by the number of negative real
/// parts), "spiral source" and the like, "center" (in 3-D "center source" or "center sink", by what
/// happens along its axis).
std::string nameOfVectorKind(CriticalKind kind, int dimension);

}  // namespace tributary
