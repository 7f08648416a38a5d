// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/Pieces/LatticePiece.h"

#include <vtkCellType.h>
#include <vtkDataArray.h>
#include <vtkDataSetAttributes.h>
#include <vtkImageData.h>
#include <vtkRectilinearGrid.h>
#include <vtkSmartPointer.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "Common/SmpFor.h"
#include "Regions/Pieces/LatticeSeams.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Components/LatticeMask.h"

namespace tributary {

LatticePiece::LatticePiece(PieceSource&& source, const DomainRules& rules)
    : ComponentPiece(std::move(source), rules) {
  extentOf(leaf_.dataSet, extent_.data());
  for (std::size_t a = 0; a < 3; ++a) {
    points_[a] = std::int64_t(extent_[2 * a + 1]) - extent_[2 * a] + 1;
    cells_[a] = std::max<std::int64_t>(points_[a] - 1, 1);
  }
  auto* amr = vtkImageData::SafeDownCast(leaf_.dataSet);
  for (std::size_t a = 0; a < 3; ++a) {
    start_[a] = extent_[2 * a];
    if (rules_.points != DomainRules::Points::Hierarchy || isFlat(a)) continue;
    const double spacing = amr->GetSpacing()[a];
    stride_[a] = std::llround(spacing / rules_.finest[a]);
    start_[a] = std::llround((amr->GetOrigin()[a] + extent_[2 * a] * spacing - rules_.origin[a]) /
                             rules_.finest[a]);
  }
  setCells();
  if (rules_.points == DomainRules::Points::Structured && rules_.hasGap() && cells() > 0) {
    Index3 last = start_;
    for (std::size_t a = 0; a < 3; ++a) last[a] += points_[a] - 1;
    slabs_ = gapSlabsOf(rules_, start_, last);
  }
  for (std::size_t a = 0; a < 3; ++a) {
    const std::int64_t elements = points_[a] - 1 + (rules_.periodic[a].hasGap() ? 1 : 0);
    if (rules_.around[a] > 0 && !isFlat(a) && elements * stride_[a] == rules_.around[a])
      around_[a] = elements;
  }
  hasGhosts_ = std::any_of(flags_.begin(), flags_.end(), [](std::uint8_t flag) {
    return (flag & vtkDataSetAttributes::DUPLICATECELL) != 0;
  });
}

void LatticePiece::setCells() {
  const bool isStraight = isAlongAxes(leaf_.dataSet);
  if (auto* image = vtkImageData::SafeDownCast(leaf_.dataSet); image && isStraight) {
    straight_.emplace().spacing.emplace();
    for (std::size_t a = 0; a < 3; ++a) {
      const double spacing = (*straight_->spacing)[a] = image->GetSpacing()[a];
      for (std::int64_t i = 0; i < points_[a]; ++i)
        straight_->axes[a].push_back(image->GetOrigin()[a] +
                                     static_cast<double>(extent_[2 * a] + i) * spacing);
    }
  } else if (auto* grid = vtkRectilinearGrid::SafeDownCast(leaf_.dataSet); grid && isStraight) {
    straight_.emplace();
    vtkDataArray* axes[3] = {grid->GetXCoordinates(), grid->GetYCoordinates(),
                             grid->GetZCoordinates()};
    for (std::size_t a = 0; a < 3; ++a)
      for (vtkIdType i = 0; i < axes[a]->GetNumberOfTuples(); ++i)
        straight_->axes[a].push_back(axes[a]->GetComponent(i, 0));
  } else {
    coordinates_ = PointCoordinates(leaf_.dataSet);
  }
}

void LatticePiece::readAgain() {
  if (!straight_) coordinates_.refer(leaf_.dataSet);
}

std::size_t LatticePiece::memory() const {
  std::size_t bytes = ComponentPiece::memory() + coordinates_.memory() + memoryOf(slabs_);
  if (straight_)
    for (const auto& axis : straight_->axes) bytes += memoryOf(axis);
  return bytes;
}

std::array<double, 3> LatticePiece::place(std::int64_t point) const {
  const Index3 p = localIndexOf(point);
  return at(p[0], p[1], p[2]);
}

int LatticePiece::cornersOf(std::int64_t cell, std::int64_t* ids) const {
  const std::int64_t i = cell % cells_[0], j = cell / cells_[0] % cells_[1];
  const std::int64_t first = pointAt(i, j, cell / (cells_[0] * cells_[1]));
  const std::array<std::int64_t, 3> strides = {1, points_[0], points_[0] * points_[1]};
  std::array<std::int64_t, 3> steps{};
  int dimension = 0;
  for (std::size_t a = 0; a < 3; ++a)
    if (!isFlat(a)) steps[static_cast<std::size_t>(dimension++)] = strides[a];
  const std::int64_t u = steps[0], v = steps[1], w = steps[2];
  const std::int64_t all[8] = {first,     first + u,     first + u + v,     first + v,
                               first + w, first + u + w, first + u + v + w, first + v + w};
  const int count = 1 << dimension;
  std::copy_n(all, count, ids);
  return count;
}

CellSize LatticePiece::measure(std::int64_t cell) const {
  if (straight_) return straight_->sizeOf(cell);
  std::int64_t ids[8];
  const int count = cornersOf(cell, ids);
  constexpr int Types[] = {VTK_VERTEX, VTK_LINE, VTK_QUAD, VTK_HEXAHEDRON};
  const int dimension = count == 8 ? 3 : count / 2;
  return sizeOfCell(Types[dimension], count, ids, coordinates_.view(), nullptr, cell);
}

Box LatticePiece::boundsOf(std::int64_t cell) const {
  std::int64_t ids[8];
  const int count = cornersOf(cell, ids);
  Box box;
  for (int c = 0; c < count; ++c) include(box, {place(ids[c]), place(ids[c])});
  return box;
}

LatticePiece::Index3 LatticePiece::finestIndexOf(std::int64_t point) const {
  Index3 at = localIndexOf(point);
  for (std::size_t a = 0; a < 3; ++a) at[a] *= stride_[a];
  return at;
}

LatticePiece::Index3 LatticePiece::indexOf(std::int64_t point) const {
  Index3 at = finestIndexOf(point);
  for (std::size_t a = 0; a < 3; ++a) at[a] += start_[a];
  return at;
}

EntityKey LatticePiece::keyOf(std::int64_t point) const {
  if (!hasIndices()) return keyOfPoint(place(point).data());
  const Index3 at = rules_.wrapped(indexOf(point));
  return keyOfStructured(0, at[0], at[1], at[2], 0);
}

NeighborPiece LatticePiece::outline() const {
  NeighborPiece outline{{}, leaf_.level, stride_};
  for (std::size_t a = 0; a < 3; ++a) {
    if (hasIndices()) {
      outline.box.lo[a] = static_cast<double>(start_[a]);
      outline.box.hi[a] = static_cast<double>(start_[a] + (points_[a] - 1) * stride_[a]);
    } else {
      outline.box.lo[a] = straight_->axes[a].front();
      outline.box.hi[a] = straight_->axes[a].back();
    }
  }
  return outline;
}

/// Labels the elements of the gaps, and unites the sets of cells and elements across the sides.
/// @param labels  of the cells
std::unique_ptr<LabeledPiece> LatticePiece::labelWithSides(
    const SharedLattice& shared, LatticeLabels labels, Through through,
    Span<const std::uint64_t> gapElements) const {
  std::vector<LatticeLabels> gaps;
  const bool hasGaps = !gapElements.empty();
  for (const GapSlab& slab : slabs_) {
    if (!hasGaps) break;
    const Span<const std::uint64_t> mask =
        gapElements.subspan(slab.firstElementWord, index(slab.elementWords()));
    gaps.push_back(labelLattice(slab.elements(),
                                std::vector<std::uint64_t>(mask.begin(), mask.end()), through,
                                nullptr, smpFor));
  }
  if (!gaps.empty() || around_ != Index3{}) {
    std::vector<LatticePart> parts;
    parts.push_back({{0, 0, 0}, cells_, &labels});
    for (std::size_t n = 0; n < gaps.size(); ++n) {
      LatticePart& part = parts.emplace_back();
      for (std::size_t a = 0; a < 3; ++a) {
        part.begin[a] = slabs_[n].isGap[a] ? cells_[a] : 0;
        part.end[a] = part.begin[a] + (slabs_[n].isGap[a] ? 1 : cells_[a]);
      }
      part.labels = &gaps[n];
      part.order = slabs_[n].order;
    }
    (void)unitePartsOf(parts, around_, {isFlat(0), isFlat(1), isFlat(2)}, through,
                       values_.empty() ? nullptr : values_.data());
  }
  return std::make_unique<LabeledLattice>(*this, shared, std::move(labels), std::move(gaps));
}

std::unique_ptr<LabeledPiece> SharedLattice::label(const RangeTest& test,
                                                   Span<const std::uint64_t> gapElements) const {
  const LatticePiece& p = piece_;
  std::vector<std::uint64_t> mask;
  if (!test.scalars) {
    mask.assign(index(maskWords(p.cells_)), ~std::uint64_t(0));
  } else {
    const vtkSmartPointer<vtkDataArray> array = plain(test.scalars);
    const LatticeSize& size = test.atCells ? p.cells_ : p.points_;
    mask.resize(index(maskWords(size)));
    switch (array->GetDataType()) {
      vtkTemplateMacro(rangeMask(static_cast<const VTK_TT*>(array->GetVoidPointer(0)), size[0],
                                 size[1] * size[2], test.lo, test.hi, mask.data(), smpFor));
      default:
        throw Error("the scalars are of a type that has no order; choose an array of numbers");
    }
    if (!test.atCells) mask = cellMask(mask, p.points_, test.allPoints, smpFor);
  }
  if (!p.flags_.empty())
    clearFlagged(mask.data(), p.cells_, p.flags_.data(), vtkDataSetAttributes::HIDDENCELL, smpFor);
  // In a plane cells share edges and points only.
  const bool isPlane = p.isFlat(0) || p.isFlat(1) || p.isFlat(2);
  const Through through =
      isPlane && p.rules_.through == Through::Edges ? Through::Faces : p.rules_.through;
  const std::int64_t* values = p.values_.empty() ? nullptr : p.values_.data();
  return p.labelWithSides(*this, labelLattice(p.cells_, std::move(mask), through, values, smpFor),
                          through, gapElements);
}

void LabeledLattice::visitCells(std::int64_t begin, std::int64_t end,
                                const VisitCells& visit) const {
  const std::int64_t width = lattice_.cells_[0];
  for (std::int64_t row = begin / width; row * width < end; ++row) {
    const std::int64_t first = row * width;
    labels_.visitRuns(row, std::max<std::int64_t>(begin - first, 0), std::min(end - first, width),
                      [&](const Run& run) { visit(first + run.begin, first + run.end, run.set); });
  }
}

NearestPoints LabeledLattice::nearest(const std::array<double, 3>& where) const {
  NearestPoints nearest;
  std::int64_t ids[8];
  visitRuns([&](const Run& run, std::int64_t row) {
    for (std::int64_t i = run.begin; i < run.end; ++i) {
      const int corners = lattice_.cornersOf(row * lattice_.cells_[0] + i, ids);
      for (int c = 0; c < corners; ++c)
        nearest.add(where, lattice_.place(ids[c]), run.set, lattice_.rules_.periodic);
    }
  });
  return nearest;
}

}  // namespace tributary
