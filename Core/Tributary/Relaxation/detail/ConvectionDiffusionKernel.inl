// SPDX-License-Identifier: BSD-3-Clause
// Included by one source file per instruction set, with TRIBUTARY_KERNEL naming the table. See
// Advection/detail/kernels/StructuredKernel.inl for what must be kept out of here.

#include <cstdint>

#include "Tributary/Relaxation/detail/ConvectionDiffusionKernel.h"

namespace tributary::detail {
namespace {

using Row = ConvectionDiffusionRow;

inline double positive(double v) {
  return v > 0 ? v : 0;
}
inline double negative(double v) {
  return v < 0 ? -v : 0;
}

/// The diffusion coefficient of a face: 0 if it is closed.
inline double through(double diffusion, double velocity) {
  return velocity == velocity ? diffusion : 0;
}

/// A cell's equation, with its neighbors along the row separate from the rest: diagonal u = b +
/// rest
/// + low west + high east.
struct Equation {
  double diagonal, rest, low, high;
};

/// The coefficients of a cell's equation along one axis: those of the two neighbors' concentrations
/// and that of the cell's own.
struct Coupling {
  double low, high, own;
};

template <bool Conservative>
inline Coupling couple(double inverseWidth, double diffusionLow, double inLow, double outLow,
                       double diffusionHigh, double inHigh, double outHigh, double velocityLow,
                       double velocityHigh) {
  const double low = through(diffusionLow, velocityLow);
  const double high = through(diffusionHigh, velocityHigh);
  Coupling c;
  c.low = (inLow * positive(velocityLow) + low) * inverseWidth;
  c.high = (inHigh * negative(velocityHigh) + high) * inverseWidth;
  c.own = Conservative
              ? (outLow * negative(velocityLow) + low + outHigh * positive(velocityHigh) + high) *
                    inverseWidth
              : c.low + c.high;
  return c;
}

template <bool Conservative>
inline Coupling across(const RowAcross& axis, std::int64_t i) {
  return couple<Conservative>(axis.inverseWidth, axis.diffusionLow, axis.inLow, axis.outLow,
                              axis.diffusionHigh, axis.inHigh, axis.outHigh, axis.velocityLow[i],
                              axis.velocityHigh[i]);
}

template <bool Conservative>
inline Equation equationOf(const Row& row, std::int64_t i) {
  const Coupling x = couple<Conservative>(row.inverseWidth[i], row.diffusion[i], row.in[i],
                                          row.out[i], row.diffusion[i + 1], row.in[i + 1],
                                          row.out[i + 1], row.velocity[i], row.velocity[i + 1]);
  const Coupling y = across<Conservative>(row.y, i);
  const Coupling z = across<Conservative>(row.z, i);
  Equation e;
  e.diagonal = row.base + (x.own + y.own + z.own);
  e.rest = (y.low * row.y.low[i] + y.high * row.y.high[i]) +
           (z.low * row.z.low[i] + z.high * row.z.high[i]);
  e.low = x.low;
  e.high = x.high;
  return e;
}

/// Only the part that depends on the cell before is computed cell by cell; the rest is vectorized
/// by the compiler.
template <bool Conservative>
void sweepRow(const Row& row, bool forward, const double* b, double* u, double* __restrict share,
              double* __restrict coupling) {
  const auto n = row.count;
  const auto prepare = [&](std::int64_t i, double other) {
    const Equation e = equationOf<Conservative>(row, i);
    // A cell without coupling and time step has the equation 0 = b; it becomes 0.
    const double inverse = e.diagonal > 0 ? 1 / e.diagonal : 0;
    share[i] = (b[i] + e.rest + (forward ? e.high : e.low) * other) * inverse;
    coupling[i] = (forward ? e.low : e.high) * inverse;
  };
  if (forward) {
    for (std::int64_t i = 0; i + 1 < n; ++i) prepare(i, u[i + 1]);
    prepare(n - 1, row.east);
    double before = row.west;
    for (std::int64_t i = 0; i < n; ++i) u[i] = before = share[i] + coupling[i] * before;
  } else {
    prepare(0, row.west);
    for (std::int64_t i = 1; i < n; ++i) prepare(i, u[i - 1]);
    double before = row.east;
    for (std::int64_t i = n; i-- > 0;) u[i] = before = share[i] + coupling[i] * before;
  }
}

void sweep(const Row& row, bool conservative, bool forward, const double* b, double* u,
           double* share, double* coupling) {
  (conservative ? sweepRow<true> : sweepRow<false>)(row, forward, b, u, share, coupling);
}

template <bool Conservative>
double residualOfRow(const Row& row, const double* b, const double* u, double* __restrict room) {
  const auto n = row.count;
  const auto look = [&](std::int64_t i, double west, double east) {
    const Equation e = equationOf<Conservative>(row, i);
    room[i] = b[i] + e.rest + (e.low * west + e.high * east) - e.diagonal * u[i];
  };
  look(0, row.west, n > 1 ? u[1] : row.east);
  for (std::int64_t i = 1; i + 1 < n; ++i) look(i, u[i - 1], u[i + 1]);
  if (n > 1) look(n - 1, u[n - 2], row.east);
  double largest = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double magnitude = room[i] < 0 ? -room[i] : room[i];
    // NaN is kept.
    if (!(magnitude <= largest)) largest = magnitude;
    if (largest != largest) break;
  }
  return largest;
}

double residual(const Row& row, bool conservative, const double* b, const double* u, double* room) {
  return (conservative ? residualOfRow<true> : residualOfRow<false>)(row, b, u, room);
}

}  // namespace

const ConvectionDiffusionKernel TRIBUTARY_KERNEL = {sweep, residual};

}  // namespace tributary::detail
