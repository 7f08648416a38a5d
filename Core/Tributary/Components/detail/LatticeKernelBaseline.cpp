// SPDX-License-Identifier: BSD-3-Clause
#define TRIBUTARY_KERNEL latticeKernelBaseline
#include "Tributary/Components/detail/LatticeKernel.inl"
