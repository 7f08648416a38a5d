// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/Interpolation.h"

#include "Tributary/Advection/detail/kernels/InterpolationKernel.h"

namespace tributary {

void prefetch(const Weights& weights, const void* data, std::size_t tupleBytes) {
  if (weights.corners == 0) return;
  const auto* const bytes = static_cast<const char*>(data);
  for (std::size_t g = 0; g < weights.groups(); ++g)
    for (int j = 0; j < weights.corners; ++j) {
      const std::int64_t* ids = weights.ids(g, j);
      for (std::size_t l = 0; l < Weights::Lanes; ++l)
        __builtin_prefetch(bytes + static_cast<std::size_t>(ids[l]) * tupleBytes);
    }
}

void interpolateVectors(const Weights& weights, const float* data, double* value, double* curl) {
  if (weights.points > 0)
    detail::interpolationKernels().floatVectors(detail::batchOf(weights), data, value, curl);
}

void interpolateVectors(const Weights& weights, const double* data, double* value, double* curl) {
  if (weights.points > 0)
    detail::interpolationKernels().doubleVectors(detail::batchOf(weights), data, value, curl);
}

void interpolateScalars(const Weights& weights, const float* data, float* value) {
  if (weights.points > 0)
    detail::interpolationKernels().floatScalars(detail::batchOf(weights), data, value);
}

void interpolateScalars(const Weights& weights, const double* data, double* value) {
  if (weights.points > 0)
    detail::interpolationKernels().doubleScalars(detail::batchOf(weights), data, value);
}

}  // namespace tributary
