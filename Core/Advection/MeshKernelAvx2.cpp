#define TRIBUTARY_KERNEL advanceMeshAvx2
#include "MeshKernel.inl"
