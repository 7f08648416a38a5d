// SPDX-License-Identifier: BSD-3-Clause
#define TRIBUTARY_KERNEL advanceMeshAvx2
#define TRIBUTARY_KERNEL_NAMESPACE kernel_avx2
#include "Tributary/Advection/detail/kernels/MeshKernel.inl"
