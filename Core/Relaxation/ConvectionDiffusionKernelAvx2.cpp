#define TRIBUTARY_KERNEL convectionDiffusionKernelAvx2
#include "ConvectionDiffusionKernel.inl"
