#define TRIBUTARY_KERNEL advanceStructuredBaseline
#include "StructuredKernel.inl"

namespace tributary {

StructuredKernel structuredKernel() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return advanceStructuredAvx512;
  if (__builtin_cpu_supports("avx2")) return advanceStructuredAvx2;
#endif
  return advanceStructuredBaseline;
}

}  // namespace tributary
