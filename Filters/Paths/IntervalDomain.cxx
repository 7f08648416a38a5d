// SPDX-License-Identifier: BSD-3-Clause
#include "Paths/IntervalDomain.h"

#include <vtkDataArray.h>
#include <vtkImageData.h>
#include <vtkPointData.h>
#include <vtkPointSet.h>
#include <vtkPoints.h>

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>
#include <utility>

#include "Common/DataVersion.h"
#include "Common/FreshArray.h"
#include "Common/Leaves.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Fingerprint.h"
#include "Tributary/Collective/Agree.h"

namespace tributary {
namespace {

[[noreturn]] void refuseChange(const std::string& what, const StepData& earlier,
                               const StepData& later) {
  std::ostringstream text;
  text << what << " between the times " << earlier.time << " and " << later.time
       << "; particles are traced through meshes whose cells stay, and only points of curvilinear "
          "grids and unstructured meshes may move: resample all time steps to one mesh first, with "
          "Resample To Image or Resample With Dataset";
  throw Error(text.str());
}

/// Whether two arrays have the same values, of the same type.
bool areEqual(vtkDataArray* a, vtkDataArray* b) {
  if (a == b) return true;
  Fingerprint first, second;
  addArray(first, a);
  addArray(second, b);
  return first == second;
}

vtkDataArray* pointsOf(vtkDataSet* dataSet) {
  auto* pointSet = vtkPointSet::SafeDownCast(dataSet);
  return pointSet && pointSet->GetPoints() ? pointSet->GetPoints()->GetData() : nullptr;
}

/// What differs between the meshes of two data sets, or "". Points may move.
std::string differenceOf(const FlowPiece& one, const FlowPiece& other) {
  vtkDataSet *a = one.dataSet, *b = other.dataSet;
  if (a->GetDataObjectType() != b->GetDataObjectType()) return "the type of a data set changes";
  if (one.group != other.group || one.hierarchy != other.hierarchy || one.level != other.level)
    return "the structure of the composite data set changes";
  int first[6] = {}, second[6] = {};
  if (extentOf(a, first) && extentOf(b, second) && !std::equal(first, first + 6, second))
    return "the extent of a grid changes";
  if (auto* image = vtkImageData::SafeDownCast(a)) {
    auto* next = vtkImageData::SafeDownCast(b);
    if (!std::equal(image->GetOrigin(), image->GetOrigin() + 3, next->GetOrigin()) ||
        !std::equal(image->GetSpacing(), image->GetSpacing() + 3, next->GetSpacing()))
      return "the origin or the spacing of an image changes";
  }
  if (a->GetNumberOfPoints() != b->GetNumberOfPoints())
    return "the number of points of a data set changes";
  if (a->GetNumberOfCells() != b->GetNumberOfCells())
    return "the number of cells of a data set changes";
  if (sharesMesh(a, b)) return "";
  if (!(fingerprintOfCells(a) == fingerprintOfCells(b)))
    return pointsOf(a) ? "the cells or the ghost flags of a data set change"
                       : "the points, the cells or the ghost flags of a data set change";
  return "";
}

/// Whether the points of two data sets with the same cells differ.
bool moves(vtkDataSet* a, vtkDataSet* b) {
  return !sharesMesh(a, b) && !areEqual(pointsOf(a), pointsOf(b));
}

/// Local. Adds the vectors of the later step to the pieces of the earlier one.
FlowPieces piecesOf(const StepData& earlier, const StepData& later, const FindVectors& vectorsOf) {
  FlowPieces found = findFlowPieces(earlier.data, vectorsOf);
  const FlowPieces next =
      earlier.data == later.data ? found : findFlowPieces(later.data, vectorsOf);
  if (found.pieces.size() != next.pieces.size())
    refuseChange("the number of data sets with the vectors changes", earlier, later);
  if (!found.pieces.empty() && found.cellCentered != next.cellCentered)
    refuseChange("the vectors change from point to cell data or back", earlier, later);
  for (std::size_t n = 0; n < found.pieces.size(); ++n) {
    FlowPiece& piece = found.pieces[n];
    const std::string difference = differenceOf(piece, next.pieces[n]);
    if (!difference.empty()) refuseChange(difference, earlier, later);
    vtkDataSet* const after = next.pieces[n].dataSet;
    piece.moves = moves(piece.dataSet, after);
    if (piece.moves && !areEqual(piece.dataSet->GetPointData()->GetGlobalIds(),
                                 after->GetPointData()->GetGlobalIds()))
      refuseChange("the global ids of points change", earlier, later);
    piece.laterDataSet = next.pieces[n].dataSet;
    piece.laterVelocity = next.pieces[n].velocity;
  }
  return found;
}

}  // namespace

vtkSmartPointer<vtkDataObject> copyOfStep(vtkDataObject* data, bool ownsArrays) {
  auto copy = vtkSmartPointer<vtkDataObject>::Take(data->NewInstance());
  copy->ShallowCopy(data);
  if (ownsArrays)
    forEachDataSet(copy, [](vtkDataObject* leaf) {
      requireMemory(static_cast<std::size_t>(leaf->GetActualMemorySize()) << 10);
      const auto own = vtkSmartPointer<vtkDataObject>::Take(leaf->NewInstance());
      own->DeepCopy(leaf);
      leaf->ShallowCopy(own);
    });
  return copy;
}

std::unique_ptr<FlowDomain> makeIntervalDomain(Transport& transport, const StepData& earlier,
                                               const StepData& later, const FindVectors& vectorsOf,
                                               std::int64_t& skippedTrees) {
  FlowPieces found;
  collectively(transport, [&] { found = piecesOf(earlier, later, vectorsOf); });
  skippedTrees = found.skippedTrees;
  return makeFlowDomain(transport, std::move(found.pieces), found.cellCentered);
}

}  // namespace tributary
