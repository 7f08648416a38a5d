#define TRIBUTARY_KERNEL laplaceKernelAvx2
#include "LaplaceKernel.inl"
