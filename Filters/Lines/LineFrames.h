// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Lines/LineTable.h"

namespace tributary {

/// The input and output arrays of computeFrames(), for all points of the output.
struct FrameArrays {
  const float* points = nullptr;  ///< 3 components.
  const double* time = nullptr;   ///< Integration time since the seed.
  const double* angularVelocity = nullptr;
  const float* velocityFloat = nullptr;  ///< 3 components; either this or velocityDouble.
  const double* velocityDouble = nullptr;
  double* rotation = nullptr;  ///< Output: the rotation angle since the seed.
  double* normals = nullptr;   ///< Output: 3 components.
};

/// Local, parallel over lines. The rotation is the trapezoidal integral of the angular velocity
/// over time and is 0 at the seed. Normals are unit vectors that are propagated along the line with
/// minimal rotation, and are then rotated about the velocity by the rotation angle, as
/// vtkStreamTracer defines them for ribbons. Consecutive points of a line must differ. The result
/// for a line depends on that line alone. Throws an Error of kind Aborted if the transport is
/// interrupted.
void computeFrames(const Transport& transport, const std::vector<OutputLine>& lines,
                   const FrameArrays& arrays);

}  // namespace tributary
