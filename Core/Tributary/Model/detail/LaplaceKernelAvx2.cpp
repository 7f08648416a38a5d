// SPDX-License-Identifier: BSD-3-Clause
#define TRIBUTARY_KERNEL laplaceKernelAvx2
#include "Tributary/Model/detail/LaplaceKernel.inl"
