// SPDX-License-Identifier: BSD-3-Clause
#define TRIBUTARY_KERNEL latticeKernelAvx2
#include "Tributary/Components/detail/LatticeKernel.inl"
