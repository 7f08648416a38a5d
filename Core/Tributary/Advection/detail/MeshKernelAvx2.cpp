// SPDX-License-Identifier: BSD-3-Clause
#define TRIBUTARY_KERNEL advanceMeshAvx2
#include "Tributary/Advection/detail/MeshKernel.inl"
