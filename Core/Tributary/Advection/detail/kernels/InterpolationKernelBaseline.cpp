// SPDX-License-Identifier: BSD-3-Clause
#define TRIBUTARY_KERNEL interpolationKernelsBaseline
#define TRIBUTARY_KERNEL_NAMESPACE kernel_baseline
#include "Tributary/Advection/detail/kernels/InterpolationKernel.inl"
#include "Tributary/Base/InstructionSet.h"

namespace tributary::detail {

const InterpolationKernels& interpolationKernels() {
  static const InterpolationKernels kernels =
      selectKernel<interpolationKernelsBaseline, interpolationKernelsAvx2,
                   interpolationKernelsAvx512>()();
  return kernels;
}

}  // namespace tributary::detail
