// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Lines/LineTable.h"

namespace tributary {

/// What the frames of lines are made from and where they go; arrays of all points of the output.
struct FrameArrays {
  const float* points = nullptr;  ///< 3 components.
  const double* time = nullptr;   ///< Integration time.
  const double* angularVelocity = nullptr;
  const float* velocityFloat = nullptr;  ///< 3 components; this or the next one.
  const double* velocityDouble = nullptr;
  double* rotation = nullptr;  ///< Written: the angle turned since the seed.
  double* normals = nullptr;   ///< Written: 3 components.
};

/// Local, in parallel over lines. Rotation: the trapezoidal integral of the angular velocity over
/// time, from 0 at the seed. Normals: unit vectors that slide along the line with least turning,
/// then turned about the velocity by the rotation, as vtkStreamTracer defines them for ribbons.
/// Consecutive points of a line must differ. A line's result depends on that line alone.
void computeFrames(const std::vector<OutputLine>& lines, const FrameArrays& arrays);

}  // namespace tributary
