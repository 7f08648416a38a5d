// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tributary::detail {

/// The coupling of the cells of a row along an axis across the row: only velocities and
/// concentrations differ from cell to cell. See ConvectionDiffusion::Faces.
struct RowAcross {
  double inverseWidth;
  double diffusionLow, inLow, outLow;
  double diffusionHigh, inHigh, outHigh;
  const double *velocityLow, *velocityHigh;  ///< Of each cell's lower and upper face; NaN: closed.
  const double *low, *high;                  ///< Concentrations of the cells beyond them.
};

/// A row of cells along x, and the concentrations around it.
struct ConvectionDiffusionRow {
  std::int64_t count;
  const double* velocity;              ///< Across x: one face more than cells; NaN: closed.
  const double *diffusion, *in, *out;  ///< Likewise.
  const double* inverseWidth;          ///< Of the cells.
  double west, east;  ///< Concentrations before the first cell, and after the last.
  RowAcross y, z;
  double base;  ///< 1 / step + decay
};

/// The loops over a row's cells, compiled once per instruction set; all give the same bits.
struct ConvectionDiffusionKernel {
  /// A Gauss-Seidel sweep of the row: `u` becomes the solution of each cell's equation in turn.
  /// @param conservative  see ConvectionDiffusionTerms
  /// @param forward       from the first cell to the last
  /// @param share, coupling  room for a row each
  void (*sweep)(const ConvectionDiffusionRow&, bool conservative, bool forward, const double* b,
                double* u, double* share, double* coupling);
  /// The largest magnitude of b - A u in the row, or NaN if one is not a number.
  /// @param room  for a row
  double (*residual)(const ConvectionDiffusionRow&, bool conservative, const double* b,
                     const double* u, double* room);
};

extern const ConvectionDiffusionKernel convectionDiffusionKernelBaseline,
    convectionDiffusionKernelAvx2;

}  // namespace tributary::detail
