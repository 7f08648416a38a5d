#define TRIBUTARY_KERNEL advanceMeshAvx512
#include "MeshKernel.inl"
