// SPDX-License-Identifier: BSD-3-Clause
#include "Features/FeatureCells.h"

#include <vtkDataArray.h>
#include <vtkDataSet.h>
#include <vtkIdList.h>
#include <vtkPoints.h>
#include <vtkStaticCellLocator.h>

#include <algorithm>
#include <cmath>

namespace tributary {
namespace {

double diagonalOf(const double bounds[6]) {
  double squares = 0;
  for (int a = 0; a < 3; ++a)
    squares += (bounds[2 * a + 1] - bounds[2 * a]) * (bounds[2 * a + 1] - bounds[2 * a]);
  return std::sqrt(squares);
}

bool isFinite(vtkCell* cell) {
  double point[3];
  for (vtkIdType i = 0; i < cell->GetNumberOfPoints(); ++i) {
    cell->GetPoints()->GetPoint(i, point);
    if (!std::isfinite(point[0]) || !std::isfinite(point[1]) || !std::isfinite(point[2]))
      return false;
  }
  return true;
}

}  // namespace

void addSamples(const LabeledPiece& labeled, const std::vector<RegionOfSet>& ofSet,
                const FactScales& scales, vtkDataArray* velocity, bool atCells,
                std::vector<FlowingSample>& samples) {
  const ComponentPiece& piece = labeled.piece();
  vtkNew<vtkIdList> points;
  for (std::int64_t c = 0; c < piece.cells(); ++c) {
    const std::uint32_t set = labeled.setOfCell(c);
    if (set == NoSet || ofSet[set].number < 0 || piece.isGhost(c)) continue;
    const CellSize size = piece.sizeOf(c);
    if (scales.hasMeasure && !std::isfinite(size.measure)) continue;
    FlowingSample sample;
    sample.sample.place = size.centroid;
    sample.sample.feature = ofSet[set].number;
    sample.sample.volume = scales.measure.fixed(scales.hasMeasure ? size.measure : 1);
    sample.velocity = {};
    if (velocity && atCells) {
      velocity->GetTuple(c, sample.velocity.data());
    } else if (velocity) {
      piece.dataSet()->GetCellPoints(c, points);
      const vtkIdType count = points->GetNumberOfIds();
      for (vtkIdType i = 0; i < count; ++i)
        for (int a = 0; a < 3; ++a)
          sample.velocity[static_cast<std::size_t>(a)] +=
              velocity->GetComponent(points->GetId(i), a) / static_cast<double>(count);
    }
    samples.push_back(sample);
  }
}

FeatureSearch::FeatureSearch(const LabeledPiece& labeled, const std::vector<RegionOfSet>& ofSet)
    : labeled_(labeled), piece_(labeled.piece()), ofSet_(ofSet) {
  const ComponentPiece& piece = piece_;
  vtkDataSet* dataSet = piece.dataSet();
  if (piece.cells() == 0) return;
  int extent[6];
  if (extentOf(dataSet, extent) && isAlongAxes(dataSet)) {
    std::int64_t stride = 1;
    for (std::size_t a = 0; a < 3; ++a) {
      const std::int64_t count = extent[2 * a + 1] - extent[2 * a] + 1;
      for (std::int64_t i = 0; i < count; ++i) axes_[a].push_back(piece.place(i * stride)[a]);
      stride *= count;
    }
    double largest = 0;
    for (const auto& axis : axes_)
      for (std::size_t i = 1; i < axis.size(); ++i)
        largest = std::max(largest, axis[i] - axis[i - 1]);
    if (dimensionOf(dataSet) < 3) margin_ = largest;
  } else {
    locator_ = vtkSmartPointer<vtkStaticCellLocator>::New();
    locator_->SetDataSet(dataSet);
    locator_->BuildLocator();
    double bounds[6];
    for (std::int64_t c = 0; c < piece.cells(); ++c) {
      dataSet->GetCell(c, cell_);
      if (cell_->GetCellDimension() == 3) continue;
      cell_->GetBounds(bounds);
      margin_ = std::max(margin_, 0.5 * diagonalOf(bounds));
    }
  }
  double bounds[6];
  dataSet->GetBounds(bounds);
  for (std::size_t a = 0; a < 3; ++a) {
    box_.lo[a] = bounds[2 * a] - margin_;
    box_.hi[a] = bounds[2 * a + 1] + margin_;
  }
}

std::int64_t FeatureSearch::regionOf(std::int64_t cell) const {
  const std::uint32_t set = labeled_.setOfCell(cell);
  return set == NoSet ? -1 : ofSet_[set].number;
}

std::int64_t FeatureSearch::atOfLattice(const std::array<double, 3>& place) const {
  // On a border there are two cells along an axis.
  std::array<std::array<std::int64_t, 2>, 3> cells;
  double squares = 0, height = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    const std::vector<double>& axis = axes_[a];
    if (axis.size() == 1) {
      cells[a] = {0, 0};
      height = std::max(height, std::abs(place[a] - axis[0]));
      continue;
    }
    if (!(place[a] >= axis.front() && place[a] <= axis.back())) return -1;
    const auto last = static_cast<std::int64_t>(axis.size()) - 2;
    const auto above = std::upper_bound(axis.begin(), axis.end(), place[a]);
    const auto below = std::lower_bound(axis.begin(), axis.end(), place[a]);
    cells[a] = {std::clamp<std::int64_t>(below - axis.begin() - 1, 0, last),
                std::clamp<std::int64_t>(above - axis.begin() - 1, 0, last)};
    const double width = axis[index(cells[a][0]) + 1] - axis[index(cells[a][0])];
    squares += width * width;
  }
  if (height > 0.5 * std::sqrt(squares)) return -1;
  const std::int64_t nx = std::max<std::int64_t>(static_cast<std::int64_t>(axes_[0].size()) - 1, 1);
  const std::int64_t ny = std::max<std::int64_t>(static_cast<std::int64_t>(axes_[1].size()) - 1, 1);
  std::int64_t least = -1;
  for (const std::int64_t k : cells[2]) {
    for (const std::int64_t j : cells[1]) {
      for (const std::int64_t i : cells[0]) {
        const std::int64_t region = regionOf((k * ny + j) * nx + i);
        if (region >= 0 && (least < 0 || region < least)) least = region;
      }
    }
  }
  return least;
}

bool FeatureSearch::isIn(std::int64_t cell, const std::array<double, 3>& place) const {
  piece_.dataSet()->GetCell(cell, cell_);
  if (!isFinite(cell_)) return false;  // VTK may abort
  int part;
  double closest[3], parameters[3], distance2;
  std::vector<double> weights(static_cast<std::size_t>(cell_->GetNumberOfPoints()));
  if (cell_->EvaluatePosition(place.data(), closest, part, parameters, distance2, weights.data()) !=
      1)
    return false;
  if (cell_->GetCellDimension() == 3) return true;
  double bounds[6];
  cell_->GetBounds(bounds);
  return std::sqrt(distance2) <= 0.5 * diagonalOf(bounds);
}

std::int64_t FeatureSearch::at(const std::array<double, 3>& place) const {
  if (!box_.contains(place.data())) return -1;
  if (!locator_) return atOfLattice(place);
  double around[6];
  for (std::size_t a = 0; a < 3; ++a) {
    around[2 * a] = place[a] - margin_;
    around[2 * a + 1] = place[a] + margin_;
  }
  locator_->FindCellsWithinBounds(around, near_);
  std::int64_t least = -1;
  for (vtkIdType i = 0; i < near_->GetNumberOfIds(); ++i) {
    const std::int64_t region = regionOf(near_->GetId(i));
    if (region >= 0 && (least < 0 || region < least) && isIn(near_->GetId(i), place))
      least = region;
  }
  return least;
}

}  // namespace tributary
