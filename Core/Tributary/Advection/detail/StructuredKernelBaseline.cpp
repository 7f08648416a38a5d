// SPDX-License-Identifier: BSD-3-Clause
#define TRIBUTARY_KERNEL advanceStructuredBaseline
#define TRIBUTARY_KERNEL_NAMESPACE kernel_baseline
#include "Tributary/Advection/detail/StructuredKernel.inl"

namespace tributary::detail {

StructuredKernel structuredKernel() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return advanceStructuredAvx512;
  if (__builtin_cpu_supports("avx2")) return advanceStructuredAvx2;
#endif
  return advanceStructuredBaseline;
}

}  // namespace tributary::detail
