#include "Tributary/Relaxation/LaplaceStencil.h"

#include "Tributary/Error.h"
#include "Tributary/Relaxation/LaplaceKernel.h"

namespace tributary {

namespace {

const LaplaceKernel& kernel() {
#if defined(__x86_64__)
  static const LaplaceKernel& chosen =
      __builtin_cpu_supports("avx2") ? laplaceKernelAvx2 : laplaceKernelBaseline;
  return chosen;
#else
  return laplaceKernelBaseline;
#endif
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
  throw Error("unknown stencil");
}

void jacobiRow(LaplaceStencil stencil, const double* row, const RowStrides& strides,
               std::int64_t count, double* out) {
  kernel().step(stencil, row, strides, count, out);
}

void streamJacobiRow(LaplaceStencil stencil, const double* row, const RowStrides& strides,
                     std::int64_t count, double* out) {
  kernel().stream(stencil, row, strides, count, out);
}

void drainStreams() {
  kernel().drain();
}

double squaredResidualOfRow(LaplaceStencil stencil, const double* row, const RowStrides& strides,
                            std::int64_t count) {
  return kernel().squares(stencil, row, strides, count);
}

}  // namespace tributary
