#define TRIBUTARY_KERNEL laplaceKernelBaseline
#include "LaplaceKernel.inl"
