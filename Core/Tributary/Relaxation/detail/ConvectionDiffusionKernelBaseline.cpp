// SPDX-License-Identifier: BSD-3-Clause
#define TRIBUTARY_KERNEL convectionDiffusionKernelBaseline
#include "Tributary/Relaxation/detail/ConvectionDiffusionKernel.inl"
