// SPDX-License-Identifier: BSD-3-Clause
#define TRIBUTARY_KERNEL advanceStructuredAvx2
#define TRIBUTARY_KERNEL_NAMESPACE kernel_avx2
#include "Tributary/Advection/detail/kernels/StructuredKernel.inl"
