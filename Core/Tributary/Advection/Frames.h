// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "Tributary/Base/Span.h"

namespace tributary {

/// A polyline: the points [first, first + points) of some arrays.
struct Polyline {
  std::int64_t first = 0;
  std::int64_t points = 0;
  std::int64_t origin = 0;  ///< Index within the line of the point without rotation: the seed.
};

/// Arrays with one tuple per point, which the caller owns.
struct FrameArrays {
  const float* points = nullptr;            ///< x, y, z.
  const double* time = nullptr;             ///< Integration time.
  const double* angularVelocity = nullptr;  ///< About the direction of the velocity, per time.
  const float* velocityFloat = nullptr;     ///< The velocity, or
  const double* velocityDouble = nullptr;   ///< the velocity.
  double* rotation = nullptr;               ///< Output: the accumulated angle, in radians.
  double* normals = nullptr;                ///< Output: x, y, z.
};

/// Local and thread-safe. Computes the frames of lines with at least two points: the rotation, the
/// integral of the angular velocity over time by the trapezoidal rule, and normals that slide along
/// the line with as little rotation as possible and are then turned by that angle about the
/// velocity. The same operations as in vtkStreamTracer and vtkPolyLine. The frame of a line depends
/// on this line alone, and has the same bits from each instruction set.
void computeFrames(Span<const Polyline> lines, const FrameArrays& arrays);

}  // namespace tributary
