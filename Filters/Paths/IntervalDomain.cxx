// SPDX-License-Identifier: BSD-3-Clause
#include "Paths/IntervalDomain.h"

#include <vtkImageData.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>

#include "Common/DataVersion.h"
#include "Common/Leaves.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"

namespace tributary {
namespace {

[[noreturn]] void refuseChange(const std::string& what, const StepData& earlier,
                               const StepData& later) {
  std::ostringstream text;
  text << what << " between the times " << earlier.time << " and " << later.time
       << "; particles are traced through meshes that stay: resample all time steps to one mesh "
          "first, with Resample To Image or Resample With Dataset";
  throw Error(text.str());
}

/// What differs between the meshes of two data sets, or "".
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
  if (!sharesMesh(a, b) && !(fingerprintOfMesh(a) == fingerprintOfMesh(b)))
    return "the points, the cells or the ghost flags of a data set change";
  return "";
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
