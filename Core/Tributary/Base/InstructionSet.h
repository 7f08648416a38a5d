// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tributary {

#if defined(__x86_64__)
/// Whether kernels are also compiled for AVX2 and AVX-512.
inline constexpr bool HasVectorKernels = true;

/// Whether this processor has AVX2 and the sets BMI, BMI2 and POPCNT. Local.
[[nodiscard]] inline bool hasAvx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}
/// Whether this processor has AVX-512 with the sets F, DQ and VL, and hasAvx2(). Local.
[[nodiscard]] inline bool hasAvx512() {
  return hasAvx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}
#else
/// Whether there are kernels for further instruction sets.
inline constexpr bool HasVectorKernels = false;
/// Whether this processor has AVX2 and there are kernels for it.
[[nodiscard]] inline bool hasAvx2() {
  return false;
}
/// Whether this processor has AVX-512 and there are kernels for it.
[[nodiscard]] inline bool hasAvx512() {
  return false;
}
#endif

/// The variant of a kernel for the largest instruction set that this processor has. Local.
/// @tparam Baseline, Avx2, Avx512  pointers to functions or objects; without HasVectorKernels only
///         Baseline has to be defined
template <auto Baseline, auto Avx2, auto Avx512 = Avx2>
[[nodiscard]] decltype(Baseline) selectKernel() {
  if constexpr (HasVectorKernels) {
    if (hasAvx512()) return Avx512;
    if (hasAvx2()) return Avx2;
  }
  return Baseline;
}

}  // namespace tributary
