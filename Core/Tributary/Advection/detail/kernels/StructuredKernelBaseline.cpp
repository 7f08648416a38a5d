// SPDX-License-Identifier: BSD-3-Clause
#define TRIBUTARY_KERNEL advanceStructuredBaseline
#define TRIBUTARY_KERNEL_NAMESPACE kernel_baseline
#include "Tributary/Advection/detail/kernels/StructuredKernel.inl"
#include "Tributary/Base/InstructionSet.h"

namespace tributary::detail {

StructuredKernel structuredKernel() {
  return selectKernel<advanceStructuredBaseline, advanceStructuredAvx2, advanceStructuredAvx512>();
}

}  // namespace tributary::detail
