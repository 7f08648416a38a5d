// SPDX-License-Identifier: BSD-3-Clause
#include "Common/DataVersion.h"

#include <gtest/gtest.h>
#include <vtkBitArray.h>
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkCellType.h>
#include <vtkDataSetAttributes.h>
#include <vtkDoubleArray.h>
#include <vtkHyperTreeGrid.h>
#include <vtkImageData.h>
#include <vtkMatrix3x3.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkSOADataArrayTemplate.h>
#include <vtkSmartPointer.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnstructuredGrid.h>

#include <functional>

namespace tributary::testing {
namespace {

vtkSmartPointer<vtkUnstructuredGrid> makeGrid() {
  auto grid = vtkSmartPointer<vtkUnstructuredGrid>::New();
  vtkNew<vtkPoints> points;
  for (int i = 0; i < 4; ++i) points->InsertNextPoint(i == 1, i == 2, i == 3);
  grid->SetPoints(points);
  const vtkIdType ids[] = {0, 1, 2, 3};
  grid->InsertNextCell(VTK_TETRA, 4, ids);
  vtkNew<vtkDoubleArray> values;
  values->SetName("values");
  for (int i = 0; i < 4; ++i) values->InsertNextValue(i);
  grid->GetPointData()->AddArray(values);
  return grid;
}

/// A change is noticed, and the changed object is recognized afterwards.
void expectNoticed(vtkDataObject* object, const std::function<void()>& change) {
  const DataVersion before(object);
  EXPECT_TRUE(before.isCurrent(object));
  change();
  EXPECT_FALSE(before.isCurrent(object));
  EXPECT_TRUE(DataVersion(object).isCurrent(object));
}

TEST(DataVersion, NoticesChangesOfAllParts) {
  const auto grid = makeGrid();
  expectNoticed(grid, [&] { grid->Modified(); });
  expectNoticed(grid, [&] { grid->GetPoints()->GetData()->Modified(); });
  expectNoticed(grid, [&] { grid->GetPointData()->GetArray(0)->Modified(); });
  expectNoticed(grid, [&] { grid->GetPointData()->SetActiveScalars("values"); });
  expectNoticed(grid, [&] { grid->GetCells()->GetConnectivityArray()->Modified(); });
  expectNoticed(grid, [&] { grid->GetCells()->GetOffsetsArray()->Modified(); });
  expectNoticed(grid, [&] { grid->DataHasBeenGenerated(); });
  vtkNew<vtkImageData> image;
  image->SetDimensions(2, 2, 2);
  expectNoticed(image, [&] { image->SetOrigin(1, 0, 0); });
  vtkNew<vtkHyperTreeGrid> trees;
  trees->SetDimensions(2, 2, 2);
  vtkNew<vtkBitArray> mask;
  trees->SetMask(mask);
  vtkNew<vtkDoubleArray> ofTrees;
  ofTrees->SetName("values");
  ofTrees->InsertNextValue(1);
  trees->GetCellData()->AddArray(ofTrees);
  expectNoticed(trees, [&] { ofTrees->Modified(); });
  expectNoticed(trees, [&] { mask->Modified(); });
  expectNoticed(image, [&] { image->GetDirectionMatrix()->SetElement(0, 0, -1); });
}

TEST(DataVersion, NoticesOlderPartsInOldComposites) {
  const auto older = makeGrid();
  vtkNew<vtkMultiBlockDataSet> inner, outer;
  inner->SetBlock(0, makeGrid());
  outer->SetBlock(0, inner);
  expectNoticed(outer, [&] { inner->SetBlock(0, older); });
  expectNoticed(outer, [&] { inner->SetBlock(0, nullptr); });
}

TEST(FingerprintOfMesh, IsThatOfWhatTheShapesOfCellsDependOn) {
  const Fingerprint usual = fingerprintOfMesh(makeGrid());
  EXPECT_EQ(fingerprintOfMesh(makeGrid()), usual);
  const auto expectOther = [&](const std::function<void(vtkUnstructuredGrid*)>& change) {
    const auto grid = makeGrid();
    change(grid);
    EXPECT_NE(fingerprintOfMesh(grid), usual);
  };
  expectOther([](auto* grid) { grid->GetPoints()->SetPoint(3, 0, 0, 2); });
  expectOther([](auto* grid) { grid->GetPoints()->InsertNextPoint(0, 0, 0); });
  expectOther([](auto* grid) {
    const vtkIdType ids[] = {0, 2, 1, 3};
    grid->GetCells()->ReplaceCellAtId(0, 4, ids);
  });
  expectOther([](auto* grid) {
    const vtkIdType ids[] = {0, 1, 2, 3};
    grid->InsertNextCell(VTK_QUAD, 4, ids);
  });
  expectOther([](auto* grid) { grid->AllocateCellGhostArray(); });
  expectOther([](auto* grid) { grid->AllocatePointGhostArray(); });
  const auto grid = makeGrid();
  grid->GetPointData()->GetArray(0)->SetTuple1(0, 7);
  EXPECT_EQ(fingerprintOfMesh(grid), usual) << "values are not part of the mesh";

  vtkNew<vtkImageData> image;
  image->SetDimensions(2, 2, 2);
  const Fingerprint ofImage = fingerprintOfMesh(image);
  image->SetSpacing(1, 2, 1);
  const Fingerprint stretched = fingerprintOfMesh(image);
  EXPECT_NE(stretched, ofImage);
  image->GetDirectionMatrix()->SetElement(0, 0, -1);
  EXPECT_NE(fingerprintOfMesh(image), stretched);
}

TEST(FingerprintOfMesh, IsTheSameWithEmptyArraysOfFaces) {
  const auto grid = makeGrid(), other = makeGrid();
  ASSERT_NE(other->InitializeFacesRepresentation(other->GetNumberOfCells()), 0);
  EXPECT_TRUE(fingerprintOfMesh(grid) == fingerprintOfMesh(other));
}

TEST(Fingerprint, IsThatOfTheValuesOfAnArray) {
  const auto ofArray = [](vtkDataArray* array) {
    Fingerprint print;
    addArray(print, array);
    return print;
  };
  vtkNew<vtkBitArray> bits;
  for (int i = 0; i < 20; ++i) bits->InsertNextValue(i % 3 == 0);
  const Fingerprint ofBits = ofArray(bits);
  bits->SetValue(19, 1 - bits->GetValue(19));
  EXPECT_NE(ofArray(bits), ofBits);

  constexpr long long Large = 1LL << 60;  // neighbors are the same double
  vtkNew<vtkSOADataArrayTemplate<long long>> ids;
  ids->SetNumberOfComponents(1);
  ids->SetNumberOfTuples(3000);
  for (vtkIdType i = 0; i < 3000; ++i) ids->SetTypedComponent(i, 0, Large + 2 * i);
  const Fingerprint ofIds = ofArray(ids);
  EXPECT_EQ(ofArray(ids), ofIds);
  ids->SetTypedComponent(2999, 0, ids->GetTypedComponent(2999, 0) + 1);
  EXPECT_NE(ofArray(ids), ofIds);

  vtkNew<vtkSOADataArrayTemplate<double>> places;
  places->SetNumberOfComponents(3);
  places->SetNumberOfTuples(1000);
  places->Fill(0.5);
  const Fingerprint ofPlaces = ofArray(places);
  places->SetTypedComponent(999, 2, 0.25);
  EXPECT_NE(ofArray(places), ofPlaces);
}

TEST(SharesMesh, IsTrueForTheSameArraysOnly) {
  const auto grid = makeGrid();
  const auto other = vtkSmartPointer<vtkUnstructuredGrid>::New();
  other->ShallowCopy(grid);
  EXPECT_TRUE(sharesMesh(grid, other));
  other->GetPointData()->Initialize();
  EXPECT_TRUE(sharesMesh(grid, other));
  vtkNew<vtkPoints> points;
  points->DeepCopy(grid->GetPoints());
  other->SetPoints(points);
  EXPECT_FALSE(sharesMesh(grid, other));
  other->ShallowCopy(grid);
  vtkNew<vtkUnsignedCharArray> ghosts;
  ghosts->SetName(vtkDataSetAttributes::GhostArrayName());
  ghosts->InsertNextValue(1);
  other->GetCellData()->AddArray(ghosts);
  EXPECT_FALSE(sharesMesh(grid, other));
  EXPECT_FALSE(sharesMesh(grid, makeGrid()));
}

TEST(DataVersion, HoldsNoReference) {
  auto grid = makeGrid();
  const DataVersion version(grid);
  EXPECT_EQ(grid->GetReferenceCount(), 1);
  EXPECT_FALSE(version.isCurrent(makeGrid()));
  EXPECT_FALSE(version.isCurrent(nullptr));
  EXPECT_FALSE(DataVersion().isCurrent(nullptr));
}

}  // namespace
}  // namespace tributary::testing
