// SPDX-License-Identifier: BSD-3-Clause
#define TRIBUTARY_KERNEL advanceStructuredAvx512
#include "Tributary/Advection/detail/StructuredKernel.inl"
