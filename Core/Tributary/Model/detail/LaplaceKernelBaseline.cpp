// SPDX-License-Identifier: BSD-3-Clause
#define TRIBUTARY_KERNEL laplaceKernelBaseline
#include "Tributary/Model/detail/LaplaceKernel.inl"
