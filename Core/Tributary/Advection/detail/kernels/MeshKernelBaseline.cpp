// SPDX-License-Identifier: BSD-3-Clause
#define TRIBUTARY_KERNEL advanceMeshBaseline
#define TRIBUTARY_KERNEL_NAMESPACE kernel_baseline
#include "Tributary/Advection/detail/kernels/MeshKernel.inl"
#include "Tributary/Base/InstructionSet.h"

namespace tributary::detail {

MeshKernel meshKernel() {
  return selectKernel<advanceMeshBaseline, advanceMeshAvx2, advanceMeshAvx512>();
}

}  // namespace tributary::detail
