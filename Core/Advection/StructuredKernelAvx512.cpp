#define TRIBUTARY_KERNEL advanceStructuredAvx512
#include "StructuredKernel.inl"
