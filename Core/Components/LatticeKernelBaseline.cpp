#define TRIBUTARY_KERNEL latticeKernelBaseline
#include "LatticeKernel.inl"
