// SPDX-License-Identifier: BSD-3-Clause
#define TRIBUTARY_KERNEL computeFramesBaseline
#define TRIBUTARY_KERNEL_NAMESPACE kernel_baseline
#include "Tributary/Advection/detail/kernels/FrameKernel.inl"
#include "Tributary/Base/InstructionSet.h"

namespace tributary::detail {

FrameKernel frameKernel() {
  return selectKernel<computeFramesBaseline, computeFramesAvx2, computeFramesAvx512>();
}

}  // namespace tributary::detail
