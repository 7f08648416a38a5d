// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "Tributary/Advection/Weights.h"

namespace tributary {

// Point data at a batch of points, with the vector instructions of the processor: the same bits
// from each instruction set. All functions are local and thread-safe. Arrays `value` and `curl`
// have room for Weights::groups() * Weights::Lanes tuples.

/// Starts to load the tuples that the weights refer to. Call it some time before the interpolation,
/// for few enough points for the nearest cache.
/// @param data  of the piece
/// @param tupleBytes  the size of the data of a point
void prefetch(const Weights& weights, const void* data, std::size_t tupleBytes);

/// Interpolates vectors.
/// @param data  of the piece, 3 numbers per point
/// @param value  output: 3 numbers per point of the batch
/// @param curl  output: the curl of the interpolated field, 3 numbers per point of the batch; null
///              if it is not wanted. Needs weights with gradients.
void interpolateVectors(const Weights& weights, const float* data, double* value, double* curl);
/// @overload
void interpolateVectors(const Weights& weights, const double* data, double* value, double* curl);

/// Interpolates scalars.
void interpolateScalars(const Weights& weights, const float* data, float* value);
/// @overload
void interpolateScalars(const Weights& weights, const double* data, double* value);

}  // namespace tributary
