// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "Tributary/Base/ParallelFor.h"
#include "Tributary/Features/SimplicialSpace.h"
#include "Tributary/Features/TrajectoryPieces.h"

namespace tributary::detail {

/// A field at one step on the local blocks of a space: the same bits on all blocks with a point.
struct FieldAtStep {
  /// @param vectors  for each block `dimension` components for each point
  /// @param scalars  the scalar field of which `vectors` is the gradient; empty for a vector field
  FieldAtStep(std::int64_t step, double time, int dimension,
              std::vector<std::vector<double>> vectors, std::vector<std::vector<double>> scalars);
  FieldAtStep() = default;

  std::int64_t step = -1;
  double time = 0;
  std::vector<std::vector<double>> vectors, scalars;
  /// Flags of each point: bit c if component c is positive, bit 3 + c if it is negative.
  std::vector<std::vector<std::uint8_t>> signs;
};

/// Finds the critical points of a step in one block. Local.
/// @param center  see kindOf()
/// @return a piece of one point for each
[[nodiscard]] TrajectoryPieces findCriticalPoints(const SimplicialSpace& space, std::size_t block,
                                                  const FieldAtStep& field, double center);

/// Finds the lines of critical points between two steps in one block. Local. The result does not
/// depend on `parallelFor`. Throws Error if more than two simplices share a facet.
/// @return lines of maximum length, sorted, without tracks
[[nodiscard]] TrajectoryPieces findPieces(const SimplicialSpace& space, std::size_t block,
                                          const FieldAtStep& lower, const FieldAtStep& upper,
                                          double center, const ParallelFor& parallelFor);

}  // namespace tributary::detail
