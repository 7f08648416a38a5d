// SPDX-License-Identifier: BSD-3-Clause
#define TRIBUTARY_KERNEL advanceMeshBaseline
#define TRIBUTARY_KERNEL_NAMESPACE kernel_baseline
#include "Tributary/Advection/detail/MeshKernel.inl"

namespace tributary::detail {

MeshKernel meshKernel() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return advanceMeshAvx512;
  if (__builtin_cpu_supports("avx2")) return advanceMeshAvx2;
#endif
  return advanceMeshBaseline;
}

}  // namespace tributary::detail
