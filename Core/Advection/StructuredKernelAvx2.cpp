#define TRIBUTARY_KERNEL advanceStructuredAvx2
#include "StructuredKernel.inl"
