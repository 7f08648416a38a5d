// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tributary {

// The deformation of a flow map, from the ends of particles that began beside each other. All
// functions are local, and pure functions of their arguments.
//
// G. Haller, "Distinguished material surfaces and coherent structures in three-dimensional fluid
// flows", Physica D 149 (2001), doi:10.1016/S0167-2789(00)00199-8.

/// The beginning and the end of a particle. Does not own the positions.
struct MappedParticle {
  const double* from = nullptr;  ///< x, y, z of the seed.
  const double* to = nullptr;    ///< x, y, z at the end.
  bool hasArrived = false;       ///< Whether it was traced to the end of the interval.
};

/// The gradient of a flow map along some of the axes.
struct FlowGradient {
  double columns[3][3] = {};  ///< [axis of the seeds][component of the ends]
  bool along[3] = {};         ///< The axes whose columns are given.
};

/// Computes a column of the gradient, by a central difference if both neighbors have arrived, and
/// by a one-sided one if only one has.
/// @param axis  0, 1 or 2; the neighbors differ along it
/// @param before  the neighbor with the smaller coordinate, or null
/// @param after  the neighbor with the larger coordinate, or null
/// @return false, with the gradient unchanged, if the particle or both neighbors have not arrived
[[nodiscard]] bool addColumn(FlowGradient& gradient, int axis, const MappedParticle* before,
                             const MappedParticle& particle, const MappedParticle* after);

/// The right Cauchy-Green tensor C = F^T F of a gradient F, and what follows from it. Entries along
/// axes that the gradient lacks are 0. All values are NaN if an entry is not finite.
struct Stretching {
  double tensor[6];     ///< xx, yy, zz, xy, yz, xz.
  double largest;       ///< The largest eigenvalue: the square of the largest stretching.
  double direction[3];  ///< Its unit eigenvector, whose largest component is positive.
};

/// Computes the stretching of a gradient with at least one axis.
[[nodiscard]] Stretching stretchingOf(const FlowGradient& gradient);

/// The finite-time Lyapunov exponent, ln(sqrt(largest)) / |duration|. -infinity if `largest` is 0.
/// @param largest  see Stretching
/// @param duration  of the flow map; not 0
[[nodiscard]] double lyapunovExponent(double largest, double duration);

}  // namespace tributary
