// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "Tributary/Model/LaplaceStencil.h"

namespace tributary::detail {

/// The loops over the points of rows, compiled once per instruction set. All versions give the same
/// bits.
struct LaplaceKernel {
  /// See jacobiRow().
  void (*step)(LaplaceStencil, const double* row, const RowStrides&, std::int64_t count,
               double* out);
  /// The same for several rows, with stores that bypass the caches if the instruction set has them.
  /// drain() makes the stored values visible to other threads. See streamJacobiRows().
  void (*stream)(LaplaceStencil, const double* row, const RowStrides&, std::int64_t count,
                 std::int64_t rows, double* out);
  void (*drain)();
  /// See squaredResidualOfRow().
  double (*squares)(LaplaceStencil, const double* row, const RowStrides&, std::int64_t count);
};

extern const LaplaceKernel laplaceKernelBaseline, laplaceKernelAvx2;

}  // namespace tributary::detail
