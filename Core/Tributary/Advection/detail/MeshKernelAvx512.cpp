// SPDX-License-Identifier: BSD-3-Clause
#define TRIBUTARY_KERNEL advanceMeshAvx512
#include "Tributary/Advection/detail/MeshKernel.inl"
