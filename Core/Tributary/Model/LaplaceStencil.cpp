// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Model/LaplaceStencil.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Base/InstructionSet.h"
#include "Tributary/Model/detail/LaplaceKernel.h"

namespace tributary {

using namespace detail;

namespace {

const LaplaceKernel& kernel() {
  static const LaplaceKernel* const selected =
      selectKernel<&laplaceKernelBaseline, &laplaceKernelAvx2>();
  return *selected;
}

}  // namespace

std::size_t dimensionOf(LaplaceStencil stencil) {
  return stencil == LaplaceStencil::FivePoint || stencil == LaplaceStencil::NinePoint ? 2 : 3;
}

int neighborsOf(LaplaceStencil stencil) {
  switch (stencil) {
    case LaplaceStencil::FivePoint:
      return 4;
    case LaplaceStencil::NinePoint:
      return 8;
    case LaplaceStencil::SevenPoint:
      return 6;
    case LaplaceStencil::TwentySevenPoint:
      return 26;
  }
  throw Error("unknown stencil; use a value of LaplaceStencil");
}

void jacobiRow(LaplaceStencil stencil, const double* row, const RowStrides& strides,
               std::int64_t count, double* out) {
  kernel().step(stencil, row, strides, count, out);
}

void streamJacobiRows(LaplaceStencil stencil, const double* row, const RowStrides& strides,
                      std::int64_t count, std::int64_t rows, double* out) {
  kernel().stream(stencil, row, strides, count, rows, out);
}

std::size_t streamStride(std::size_t values) {
  // Doubles in a cache line, and in half of what the ways of the first cache repeat after: the next
  // row but one should not come down there either.
  constexpr std::size_t Line = 8, Way = 256;
  // The rows of several stencils should be a few lines apart there.
  constexpr std::size_t Apart = 4 * Line;
  std::size_t stride = (values + Line - 1) / Line * Line;
  while (stride % Way < Apart || stride % Way > Way - Apart) stride += Line;
  return stride;
}

void drainStreams() {
  kernel().drain();
}

double squaredResidualOfRow(LaplaceStencil stencil, const double* row, const RowStrides& strides,
                            std::int64_t count) {
  return kernel().squares(stencil, row, strides, count);
}

}  // namespace tributary
