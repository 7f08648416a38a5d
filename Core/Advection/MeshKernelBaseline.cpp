#define TRIBUTARY_KERNEL advanceMeshBaseline
#include "MeshKernel.inl"

namespace tributary {

MeshKernel meshKernel() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return advanceMeshAvx2;
#endif
  return advanceMeshBaseline;
}

}  // namespace tributary
