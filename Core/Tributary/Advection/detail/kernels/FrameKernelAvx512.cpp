// SPDX-License-Identifier: BSD-3-Clause
#define TRIBUTARY_KERNEL computeFramesAvx512
#define TRIBUTARY_KERNEL_NAMESPACE kernel_avx512
#include "Tributary/Advection/detail/kernels/FrameKernel.inl"
