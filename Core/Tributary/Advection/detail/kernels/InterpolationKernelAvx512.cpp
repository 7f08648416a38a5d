// SPDX-License-Identifier: BSD-3-Clause
#define TRIBUTARY_KERNEL interpolationKernelsAvx512
#define TRIBUTARY_KERNEL_NAMESPACE kernel_avx512
#include "Tributary/Advection/detail/kernels/InterpolationKernel.inl"
