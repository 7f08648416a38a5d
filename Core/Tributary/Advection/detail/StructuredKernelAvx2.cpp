// SPDX-License-Identifier: BSD-3-Clause
#define TRIBUTARY_KERNEL advanceStructuredAvx2
#include "Tributary/Advection/detail/StructuredKernel.inl"
