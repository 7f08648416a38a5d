// SPDX-License-Identifier: BSD-3-Clause
#include "Features/FeatureCells.h"

#include <vtkDataArray.h>
#include <vtkDataSet.h>
#include <vtkIdList.h>
#include <vtkNew.h>

#include <cmath>

namespace tributary {

namespace {

/// The mean of vectors at the points of a cell.
std::array<double, 3> meanOfPoints(vtkDataSet* dataSet, std::int64_t cell, vtkDataArray* vectors,
                                   vtkIdList* points) {
  std::array<double, 3> mean{};
  dataSet->GetCellPoints(cell, points);
  const vtkIdType count = points->GetNumberOfIds();
  for (vtkIdType i = 0; i < count; ++i)
    for (int a = 0; a < 3; ++a)
      mean[static_cast<std::size_t>(a)] +=
          vectors->GetComponent(points->GetId(i), a) / static_cast<double>(count);
  return mean;
}

}  // namespace

void addSamples(const LabeledPiece& labeled, const std::vector<RegionOfSet>& ofSet,
                const FactScales& scales, vtkDataArray* velocity, bool atCells,
                CellSamples& result) {
  const ComponentPiece& piece = labeled.piece();
  vtkNew<vtkIdList> points;
  labeled.visitOwnCells([&](std::int64_t begin, std::int64_t end, std::uint32_t set) {
    if (ofSet[set].number < 0) return;
    for (std::int64_t c = begin; c < end; ++c) {
      const CellSize size = piece.sizeOf(c);
      if (scales.hasMeasure && !std::isfinite(size.measure)) continue;
      result.samples.push_back({size.centroid, ofSet[set].number, 0,
                                scales.measure.fixed(scales.hasMeasure ? size.measure : 1)});
      if (velocity && atCells)
        velocity->GetTuple(c, result.velocities.emplace_back().data());
      else if (velocity)
        result.velocities.push_back(meanOfPoints(piece.dataSet(), c, velocity, points));
    }
  });
}

}  // namespace tributary
