// SPDX-License-Identifier: BSD-3-Clause
#include "Paths/IntervalDomain.h"

#include <vtkDataArray.h>
#include <vtkImageData.h>
#include <vtkPointData.h>
#include <vtkPointSet.h>
#include <vtkPoints.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "Common/DataVersion.h"
#include "Common/FreshArray.h"
#include "Common/Leaves.h"
#include "Common/VTKVersions.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Fingerprint.h"
#include "Tributary/Base/NumberText.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {
namespace {

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

/// Whether the meshes of two data sets differ by more than the places of points.
bool differ(const FlowPiece& one, const FlowPiece& other) {
  vtkDataSet *a = one.dataSet, *b = other.dataSet;
  if (a->GetDataObjectType() != b->GetDataObjectType() || one.group != other.group ||
      one.hierarchy != other.hierarchy || one.level != other.level)
    return true;
  int first[6] = {}, second[6] = {};
  if (extentOf(a, first) && extentOf(b, second) && !std::equal(first, first + 6, second))
    return true;
  if (auto* image = vtkImageData::SafeDownCast(a)) {
    auto* next = vtkImageData::SafeDownCast(b);
    if (!std::equal(image->GetOrigin(), image->GetOrigin() + 3, next->GetOrigin()) ||
        !std::equal(image->GetSpacing(), image->GetSpacing() + 3, next->GetSpacing()))
      return true;
  }
  if (a->GetNumberOfPoints() != b->GetNumberOfPoints() ||
      a->GetNumberOfCells() != b->GetNumberOfCells())
    return true;
  return !sharesMesh(a, b) && !(fingerprintOfCells(a) == fingerprintOfCells(b));
}

/// Whether the points of two data sets with the same cells differ.
bool moves(vtkDataSet* a, vtkDataSet* b) {
  return !sharesMesh(a, b) && !areEqual(pointsOf(a), pointsOf(b));
}

/// Local. Adds the vectors of the later step to the pieces of the earlier one.
/// @return false if the mesh changes
bool join(FlowPieces& earlier, const FlowPieces& later) {
  if (earlier.pieces.size() != later.pieces.size() ||
      (!earlier.pieces.empty() && earlier.cellCentered != later.cellCentered))
    return false;
  for (std::size_t n = 0; n < earlier.pieces.size(); ++n) {
    FlowPiece& piece = earlier.pieces[n];
    const FlowPiece& next = later.pieces[n];
    if (differ(piece, next)) return false;
    piece.moves = moves(piece.dataSet, next.dataSet);
    if (piece.moves && !areEqual(piece.dataSet->GetPointData()->GetGlobalIds(),
                                 next.dataSet->GetPointData()->GetGlobalIds()))
      return false;
    piece.laterDataSet = next.dataSet;
    piece.laterVelocity = next.velocity;
  }
  return true;
}

/// Collective. The domain of one step alone.
std::unique_ptr<FlowDomain> domainOf(Transport& transport, FlowPieces found,
                                     const PeriodicAxes& periodic) {
  for (FlowPiece& piece : found.pieces) {
    piece.laterDataSet = piece.dataSet;
    piece.laterVelocity = piece.velocity;
    piece.moves = false;
  }
  return makeFlowDomain(transport, std::move(found), periodic);
}

/// The data sets of this rank that have cells and vectors.
struct WithVectors {
  std::int64_t count = 0;
  std::int64_t dimension = 0;  ///< The highest one.
};

/// Local.
WithVectors findWithVectors(vtkDataObject* data, const VelocityForm& form) {
  WithVectors found;
  for (const Leaf& leaf : leavesOf(data)) {
    const int dimension = dimensionOf(leaf.dataSet);
    if (dimension < 0 || !form.isIn(leaf.dataSet)) continue;
    ++found.count;
    found.dimension = std::max<std::int64_t>(found.dimension, dimension);
  }
  return found;
}

/// Local. The number of data sets that have cells of a dimension but no vectors.
std::int64_t countWithout(vtkDataObject* data, const VelocityForm& form, std::int64_t dimension) {
  const std::vector<Leaf> leaves = leavesOf(data);
  return std::count_if(leaves.begin(), leaves.end(), [&](const Leaf& leaf) {
    return leaf.dataSet && leaf.dataSet->GetNumberOfCells() > 0 && !form.isIn(leaf.dataSet) &&
           dimensionOf(leaf.dataSet) >= dimension;
  });
}

/// "between the times 0.5 and 1"
std::string betweenTimes(const StepData& earlier, const StepData& later) {
  return "between the times " + numberText(earlier.time) + " and " + numberText(later.time);
}

}  // namespace

vtkSmartPointer<vtkDataObject> copyOfStep(vtkDataObject* data, bool ownsArrays) {
  auto copy = vtkSmartPointer<vtkDataObject>::Take(data->NewInstance());
  shallowCopy(copy, data);
  if (ownsArrays)
    forEachDataSet(copy, [](vtkDataObject* leaf) {
      requireMemory(static_cast<std::size_t>(leaf->GetActualMemorySize()) << 10);
      const auto own = vtkSmartPointer<vtkDataObject>::Take(leaf->NewInstance());
      own->DeepCopy(leaf);
      leaf->ShallowCopy(own);
    });
  return copy;
}

void requireVectors(Transport& transport, const StepData& earlier, const StepData& later,
                    const VelocityForm& form, bool changes) {
  std::array<WithVectors, 2> with;
  std::int64_t dimension = 0;
  collectively(transport, [&] {
    with = {findWithVectors(earlier.data, form), findWithVectors(later.data, form)};
    dimension = std::max(with[0].dimension, with[1].dimension);
  });
  dimension = allreduce(transport, ReduceOp::Max, dimension);
  std::vector<std::int64_t> counts;
  collectively(transport, [&] {
    counts = {with[0].count, with[1].count, countWithout(earlier.data, form, dimension),
              countWithout(later.data, form, dimension)};
  });
  const std::vector<std::int64_t> sums = allreduce(transport, ReduceOp::Sum, counts);
  if (!changes && sums[0] == sums[1]) return;
  for (const int step : {0, 1}) {
    const auto at = static_cast<std::size_t>(step), other = 1 - at;
    const std::string here = numberText((step == 0 ? earlier : later).time);
    const std::string there = numberText((step == 0 ? later : earlier).time);
    if (sums[at] == 0 && sums[other] > 0)
      throw Error(
          "no block of the input on any rank has cells and the vectors to trace at the time " +
          here + ", and some do at the time " + there + "; " +
          form.choice("that the input has at all time steps"));
    if (sums[2 + at] > 0 && sums[2 + other] == 0)
      throw Error("blocks of the input lack the vectors at the time " + here +
                  ", and none does at the time " + there + "; " +
                  form.choice("that they have at all time steps"));
  }
}

IntervalDomains makeIntervalDomains(Transport& transport, const StepData& earlier,
                                    const StepData& later, const VelocityForm& form,
                                    const PeriodicAxes& periodic, std::int64_t& skippedTrees) {
  FlowPieces found, next;
  bool isSame = false;
  collectively(transport, [&] {
    found = findFlowPieces(transport, earlier.data, form);
    next = earlier.data == later.data ? found : findFlowPieces(transport, later.data, form);
    isSame = join(found, next);
  });
  skippedTrees = std::max(found.skippedTrees, next.skippedTrees);
  IntervalDomains domains;
  if (allreduce(transport, ReduceOp::Min, static_cast<std::int64_t>(isSame)) != 0) {
    domains.flow = makeFlowDomain(transport, std::move(found), periodic);
    return domains;
  }
  requireVectors(transport, earlier, later, form, true);
  domains.flow = domainOf(transport, std::move(found), periodic);
  domains.later = domainOf(transport, std::move(next), periodic);
  // The same on all ranks.
  if (domains.flow->cellCentered != domains.later->cellCentered)
    throw Error("the vectors change from point to cell data or back " +
                betweenTimes(earlier, later) +
                "; convert them with Cell Data to Point Data or Point Data to Cell Data first");
  if (domains.flow->vectorName != domains.later->vectorName)
    throw Error("the vectors are \"" + domains.flow->vectorName + "\" at " +
                numberText(earlier.time) + " and \"" + domains.later->vectorName + "\" at " +
                numberText(later.time) + "; choose one by its name with Vectors");
  return domains;
}

}  // namespace tributary
