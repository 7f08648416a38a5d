#define TRIBUTARY_KERNEL latticeKernelAvx2
#include "LatticeKernel.inl"
