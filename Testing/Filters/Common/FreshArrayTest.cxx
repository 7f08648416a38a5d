// SPDX-License-Identifier: BSD-3-Clause
#include "Common/FreshArray.h"

#include <vtkDoubleArray.h>
#include <vtkFloatArray.h>
#include <vtkNew.h>
#include <vtkSmartPointer.h>

#include <gtest/gtest.h>

#include <functional>

#include "Support/Effort.h"
#include "Tributary/Base/LargeBuffers.h"

namespace {

using tributary::freshArray;
using tributary::keptBufferBytes;

constexpr vtkIdType Few = 10, Many = 100000;

vtkSmartPointer<vtkDoubleArray> filledArray(vtkIdType tuples) {
  auto array = freshArray<vtkDoubleArray>("values", 1, tuples);
  for (vtkIdType i = 0; i < tuples; ++i) array->SetValue(i, static_cast<double>(i));
  return array;
}

/// VTK replaces the memory of arrays in several ways. The array is written to afterwards, and
/// deleted.
TEST(FreshArray, MayGrowShrinkAndBeEmptied) {
  vtkNew<vtkDoubleArray> larger;
  larger->SetNumberOfValues(3 * Many);
  larger->Fill(7);
  const std::function<void(vtkDoubleArray*)> changes[] = {
      [](vtkDoubleArray* a) { a->SetNumberOfTuples(2 * Many); },
      [](vtkDoubleArray* a) { a->SetNumberOfTuples(0); },
      [](vtkDoubleArray* a) { a->Initialize(); },
      [](vtkDoubleArray* a) { a->Resize(0); },
      [](vtkDoubleArray* a) { a->Resize(5); },
      [](vtkDoubleArray* a) { a->Resize(2 * Many); },
      [](vtkDoubleArray* a) { a->Squeeze(); },
      [](vtkDoubleArray* a) { a->Allocate(4 * Many); },
      [](vtkDoubleArray* a) { a->InsertNextValue(1); },
      [&](vtkDoubleArray* a) { a->DeepCopy(larger); },
      [&](vtkDoubleArray* a) { a->ShallowCopy(larger); },
  };
  for (const vtkIdType tuples : {vtkIdType(0), Few, Many})
    for (const auto& first : changes)
      for (const auto& second : changes) {
        auto array = filledArray(tuples);
        first(array);
        second(array);
        const vtkIdType count = array->GetNumberOfValues();
        for (vtkIdType i = 0; i < 3; ++i) array->InsertNextValue(static_cast<double>(i));
        ASSERT_EQ(array->GetNumberOfValues(), count + 3);
        EXPECT_EQ(array->GetValue(count + 2), 2);
      }
}

TEST(FreshArray, KeepsItsValuesWhereVtkKeepsThem) {
  auto array = filledArray(Many);
  array->Resize(2 * Many);
  array->InsertNextValue(-1);
  for (const vtkIdType i : {vtkIdType(0), Many / 2, Many - 1})
    EXPECT_EQ(array->GetValue(i), static_cast<double>(i));
  EXPECT_EQ(array->GetValue(Many), -1);
}

TEST(FreshArray, MemoryIsKeptForTheNextOneIfWanted) {
  if (tributary::testing::Sanitized) GTEST_SKIP() << "builds with sanitizers keep no memory";
  tributary::freeKeptBuffers();
  const void* memory = nullptr;
  {
    const auto array = filledArray(Many);
    memory = array->GetPointer(0);
  }
  EXPECT_GE(keptBufferBytes(), sizeof(double) * Many);
  EXPECT_EQ(filledArray(Many)->GetPointer(0), memory);
  auto last = filledArray(Many);
  tributary::keepBuffers(false);
  EXPECT_EQ(keptBufferBytes(), 0u);
  last = nullptr;  // an array that outlives all filters
  EXPECT_EQ(keptBufferBytes(), 0u);
  tributary::keepBuffers(true);
}

}  // namespace
