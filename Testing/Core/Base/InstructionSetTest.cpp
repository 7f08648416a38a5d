// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Base/InstructionSet.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

int baseline() {
  return 0;
}
int avx2() {
  return 2;
}
int avx512() {
  return 512;
}

TEST(InstructionSet, TheLargestOneOfTheProcessorIsSelected) {
  EXPECT_TRUE(hasAvx2() || !hasAvx512());
  EXPECT_TRUE(HasVectorKernels || !hasAvx2());
  const int ofTwo = hasAvx2() ? 2 : 0;
  const int ofThree = hasAvx512() ? 512 : ofTwo;
  EXPECT_EQ((selectKernel<baseline, avx2>()()), ofTwo);
  EXPECT_EQ((selectKernel<baseline, avx2, avx512>()()), ofThree);
}

struct Kernel {
  int number;
};
extern const Kernel kernelBaseline, kernelAvx2;
const Kernel kernelBaseline{0}, kernelAvx2{2};

TEST(InstructionSet, AKernelMayBeAnObject) {
  const Kernel* const selected = selectKernel<&kernelBaseline, &kernelAvx2>();
  EXPECT_EQ(selected->number, hasAvx2() ? 2 : 0);
}

}  // namespace
}  // namespace tributary
