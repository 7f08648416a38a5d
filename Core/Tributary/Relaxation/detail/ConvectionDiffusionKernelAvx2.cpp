// SPDX-License-Identifier: BSD-3-Clause
#define TRIBUTARY_KERNEL convectionDiffusionKernelAvx2
#include "Tributary/Relaxation/detail/ConvectionDiffusionKernel.inl"
