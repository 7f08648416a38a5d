// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "Tributary/Model/LaplaceStencil.h"

namespace tributary::detail {

/// The loops over a row's points, compiled once per instruction set; all give the same bits.
struct LaplaceKernel {
  /// See jacobiRow().
  void (*step)(LaplaceStencil, const double* row, const RowStrides&, std::int64_t count,
               double* out);
  /// The same for some rows, but what is written goes past the caches, where there are instructions
  /// for that; drain() makes sure that others see it. See streamJacobiRows().
  void (*stream)(LaplaceStencil, const double* row, const RowStrides&, std::int64_t count,
                 std::int64_t rows, double* out);
  void (*drain)();
  /// See squaredResidualOfRow().
  double (*squares)(LaplaceStencil, const double* row, const RowStrides&, std::int64_t count);
};

extern const LaplaceKernel laplaceKernelBaseline, laplaceKernelAvx2;

}  // namespace tributary::detail
