// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "Tributary/Advection/Trajectory.h"
#include "Tributary/Advection/Weights.h"
#include "Tributary/Advection/detail/kernels/MeshKernel.h"

namespace tributary::detail {

/// Where the weights of one group of Weights::Lanes points are. Corner j of lane l: [j * Lanes +
/// l].
struct GroupWeights {
  std::int64_t* id;
  double* weight;
  double* gradient;  ///< [(j * 3 + axis) * Lanes + l]; null if not wanted.
};

/// The weights of all groups of a batch, and their numbers of corners.
struct BatchWeights {
  std::int64_t groups;
  int corners;
  const std::int32_t* count;  ///< [group * Lanes + lane]
  const std::int64_t* id;     ///< [(group * corners + j) * Lanes + lane]
  const double* weight;
  const double* gradient;  ///< [((group * corners + j) * 3 + axis) * Lanes + lane], or null.
};

/// The weights of a group of a batch with corners.
inline GroupWeights groupOf(Weights& weights, std::size_t group) {
  return {weights.ids(group, 0), weights.weights(group, 0),
          weights.wantGradients ? weights.gradients(group, 0, 0) : nullptr};
}
/// The weights of a batch with points. One without corners has no ids and weights.
inline BatchWeights batchOf(const Weights& weights) {
  BatchWeights batch{static_cast<std::int64_t>(weights.groups()),
                     weights.corners,
                     weights.count.data(),
                     nullptr,
                     nullptr,
                     nullptr};
  if (weights.corners == 0) return batch;
  batch.id = weights.ids(0, 0);
  batch.weight = weights.weights(0, 0);
  if (weights.wantGradients) batch.gradient = weights.gradients(0, 0, 0);
  return batch;
}

/// A piece of a uniform grid. Axes along which the grid is flat have no cells.
struct UniformPiece {
  double origin[3], inverse[3], cells[3];
  double period[3], periodicOrigin[3];  ///< As in StepRules.
  std::int64_t pointStride[3], cellStride[3];
  std::int32_t storedLo[3];  ///< Index of the first stored point.
};

/// Functions for groups of Weights::Lanes points. Each lane has the operations of the code for one
/// point, in the same order: the same bits from every variant.
struct InterpolationKernels {
  /// Weights at points of a uniform grid.
  /// @param points  of all lanes
  /// @param cell  the cells' numbers in the piece
  /// @return one bit for each lane whose point is not plainly inside the grid: it has no weights
  unsigned (*uniformWeights)(const UniformPiece&, const TrajectoryPoint* points,
                             const GroupWeights& out, std::int64_t* cell);
  /// Weights at points in boxes and wedges.
  /// @param cells  of all lanes; wedges have weights for six corners only
  /// @param x  coordinates of the points, [axis][lane]
  void (*boxWeights)(const CellRecord* const* cells, std::size_t realSize, const double (*x)[8],
                     const GroupWeights& out);
  /// Interpolated vectors, and the curl of their field. @param curl  null if not wanted
  void (*floatVectors)(const BatchWeights&, const float* data, double* value, double* curl);
  void (*doubleVectors)(const BatchWeights&, const double* data, double* value, double* curl);
  /// Interpolated scalars.
  void (*floatScalars)(const BatchWeights&, const float* data, float* value);
  void (*doubleScalars)(const BatchWeights&, const double* data, double* value);
};
InterpolationKernels interpolationKernelsBaseline();
InterpolationKernels interpolationKernelsAvx2();
InterpolationKernels interpolationKernelsAvx512();
/// The fastest variant that this processor runs.
[[nodiscard]] const InterpolationKernels& interpolationKernels();

}  // namespace tributary::detail
