// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "Tributary/Base/ParallelFor.h"
#include "Tributary/Features/SimplicialSpace.h"
#include "Tributary/Features/TrajectoryPieces.h"

namespace tributary {

/// A field at one step, on each local block of a space: the same bits wherever a point is.
struct FieldAtStep {
  /// @param vectors  of each block, for each point as many components as the space has dimensions
  /// @param scalars  what they are the gradient of; empty if they are none
  FieldAtStep(std::int64_t step, double time, int dimension,
              std::vector<std::vector<double>> vectors, std::vector<std::vector<double>> scalars);
  FieldAtStep() = default;

  std::int64_t step = -1;
  double time = 0;
  std::vector<std::vector<double>> vectors, scalars;
  /// Of each point: bit c if component c is positive, bit 3 + c if it is negative.
  std::vector<std::vector<std::uint8_t>> signs;
};

/// The critical points of a step, in one block, each a piece by itself.
TrajectoryPieces findCriticalPoints(const SimplicialSpace& space, std::size_t block,
                                    const FieldAtStep& field, double center);

/// The lines of critical points between two steps, in one block: as long as may be, in order,
/// without tracks. What they are does not depend on `parallelFor`.
/// Throws Error if a facet has more than two simplices.
TrajectoryPieces findPieces(const SimplicialSpace& space, std::size_t block,
                            const FieldAtStep& lower, const FieldAtStep& upper, double center,
                            const ParallelFor& parallelFor);

}  // namespace tributary
