// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/UnstructuredPiece.h"

#include <vtkCellData.h>
#include <vtkCellType.h>
#include <vtkDataArray.h>
#include <vtkDataSetAttributes.h>
#include <vtkPointData.h>
#include <vtkUnstructuredGrid.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "Common/SmpFor.h"
#include "Regions/PointVisits.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Components/CoincidentPoints.h"

namespace tributary {

UnstructuredPiece::UnstructuredPiece(const Leaf& leaf, const DomainRules& rules,
                                     std::vector<std::uint8_t> flags,
                                     std::vector<std::int64_t> labels)
    : ComponentPiece(leaf, rules),
      lists_(cellListsOf(leaf.dataSet)),
      count_(static_cast<std::int64_t>(lists_.types.size())),
      coordinatesArray_(coordinatesOf(leaf.dataSet)),
      coordinates_(coordinatesArray_),
      flags_(std::move(flags)),
      values_(std::move(labels)) {
  checkCells();
  measureCells();
  if (rules_.points == DomainRules::Points::Ids && count_ > 0)
    pointIds_ = exactIds(leaf.dataSet->GetPointData()->GetGlobalIds());
  if (rules_.points != DomainRules::Points::Clusters) mergePoints(nullptr);
  if (rules_.cells == DomainRules::Cells::Ids && count_ > 0)
    cellIds_ = exactIds(leaf.dataSet->GetCellData()->GetGlobalIds());
}

void UnstructuredPiece::checkCells() const {
  const std::int64_t pointCount = points();
  const auto check = [&](std::int64_t cell, std::int64_t point) {
    if (point < 0 || point >= pointCount)
      throw Error("cell " + std::to_string(cell) + " has point " + std::to_string(point) +
                  " of a data set with " + std::to_string(pointCount) + " points");
  };
  smpFor(count_, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = begin; c < end; ++c) {
      const auto ids = ownPointsOf(c);
      for (const std::int64_t p : ids) check(c, p);
      const int type = lists_.types[index(c)];
      if (static_cast<std::int64_t>(ids.size()) < leastPointsOf(type))
        throw Error("cell " + std::to_string(c) + " of type " + std::to_string(type) + " has " +
                    std::to_string(ids.size()) + " points");
      if (type != VTK_POLYHEDRON) continue;
      const auto size = static_cast<std::int64_t>(lists_.faces.size());
      std::int64_t at =
          index(c) < lists_.faceLocations.size() ? lists_.faceLocations[index(c)] : -1;
      const auto next = [&] {
        if (at < 0 || at >= size)
          throw Error("polyhedron " + std::to_string(c) + " has not the faces that it should");
        return lists_.faces[index(at++)];
      };
      for (std::int64_t faces = next(); faces > 0; --faces)
        for (std::int64_t corners = next(); corners > 0; --corners) check(c, next());
    }
  });
}

void UnstructuredPiece::measureCells() {
  sizes_.resize(index(count_));
  const auto measure = [&](std::int64_t c) {
    const auto ids = ownPointsOf(c);
    sizes_[index(c)] = sizeOfCell(lists_.types[index(c)], static_cast<std::int64_t>(ids.size()),
                                  ids.data(), coordinates_, leaf_.dataSet, c);
  };
  smpFor(count_, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = begin; c < end; ++c)
      if (isMeasuredByPoints(lists_.types[index(c)])) measure(c);
  });
  for (std::int64_t c = 0; c < count_; ++c)  // VTK's cells are for one thread at a time
    if (!isMeasuredByPoints(lists_.types[index(c)])) measure(c);
}

Box UnstructuredPiece::box() const {
  Box box;
  if (count_ == 0) return box;  // empty
  box.lo.fill(RegionFacts::Infinity);
  box.hi.fill(-RegionFacts::Infinity);
  for (std::int64_t p = 0; p < points(); ++p) {
    const std::array<double, 3> here = whereToLook(p);
    for (std::size_t a = 0; a < 3; ++a) {
      box.lo[a] = std::min(box.lo[a], here[a]);
      box.hi[a] = std::max(box.hi[a], here[a]);
    }
  }
  return box;
}

std::uint32_t UnstructuredPiece::label(const RangeTest& test) {
  std::vector<std::uint8_t> inRange;
  if (test.scalars || !flags_.empty()) {
    inRange.assign(index(count_), 1);
    const std::vector<std::uint64_t> mask = rangeBits(test);
    const auto isIn = [&](std::int64_t i) { return (mask[index(i >> 6)] >> (i & 63) & 1) != 0; };
    smpFor(count_, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t c = begin; c < end; ++c) {
        std::uint8_t& in = inRange[index(c)];
        if (!flags_.empty() && (flags_[index(c)] & vtkDataSetAttributes::HIDDENCELL) != 0) {
          in = 0;
        } else if (test.scalars && test.atCells) {
          in = isIn(c) ? 1 : 0;
        } else if (test.scalars) {
          const auto ids = ownPointsOf(c);
          const bool good = test.allPoints
                                ? !ids.empty() && std::all_of(ids.begin(), ids.end(), isIn)
                                : std::any_of(ids.begin(), ids.end(), isIn);
          in = good ? 1 : 0;
        }
      }
    });
  }
  const CellEntities entities = throughPoints() ? cellPoints_ : numbered_.cells();
  labels_ = {};
  labels_ = labelMesh(entities, inRange, values_.empty() ? nullptr : values_.data(), smpFor);
  return labels_.sets;
}

void UnstructuredPiece::write(RegionOutput& output) const {
  if (output.cells) {
    smpFor(count_, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t c = begin; c < end; ++c)
        output.cells[c] = setOfCell(c) == NoSet ? -1 : output.shownOf[setOfCell(c)];
    });
  }
  if (output.points) std::fill_n(output.points, points(), vtkIdType(-1));
  output.pointsOfSet.assign(labels_.sets, 0);
  visitRegionsAtPoints(
      points(), count_, [&](std::int64_t c) { return setOfCell(c); },
      [&](std::int64_t c) { return pointsOf(c); }, output.numberOf,
      [&](std::int64_t point, std::uint32_t set) {
        if (shared_.empty() || !isShared(point)) ++output.pointsOfSet[set];
        const std::int64_t shown = output.shownOf[set];
        if (!output.points || shown < 0) return;
        vtkIdType& out = output.points[point];
        if (out < 0 || shown < out) out = shown;
      });
  if (output.points && !first_.empty())
    for (std::int64_t p = 0; p < points(); ++p) output.points[p] = output.points[firstOf(p)];
}

void UnstructuredPiece::showAt(std::int64_t shared, vtkIdType region, vtkIdType* points) const {
  const std::int64_t point = shared_[index(shared)];
  points[point] = region;
  const auto before = [](const std::pair<std::int64_t, std::int64_t>& copy, std::int64_t p) {
    return copy.first < p;
  };
  for (auto copy = std::lower_bound(copies_.begin(), copies_.end(), point, before);
       copy != copies_.end() && copy->first == point; ++copy)
    points[copy->second] = region;
}

std::vector<std::uint32_t> UnstructuredPiece::setsAt(
    const std::vector<std::int64_t>& wanted) const {
  std::vector<char> isWanted(index(points()), 0);
  for (const std::int64_t p : wanted) isWanted[index(firstOf(p))] = 1;
  std::vector<std::uint32_t> sets;
  for (std::int64_t c = 0; c < count_; ++c) {
    if (setOfCell(c) == NoSet) continue;
    for (const std::int64_t p : pointsOf(c)) {
      if (isWanted[index(p)] == 0) continue;
      sets.push_back(setOfCell(c));
      break;
    }
  }
  return sets;
}

ComponentPiece::Nearest UnstructuredPiece::nearest(const std::array<double, 3>& where) const {
  Nearest nearest;
  for (std::int64_t c = 0; c < count_; ++c) {
    if (setOfCell(c) == NoSet) continue;
    for (const std::int64_t p : ownPointsOf(c)) nearest.add(where, coordinates_[p], setOfCell(c));
  }
  return nearest;
}

std::unique_ptr<ComponentPiece> makeUnstructuredPiece(const Leaf& leaf, const DomainRules& rules,
                                                      std::vector<std::uint8_t> flags,
                                                      std::vector<std::int64_t> labels) {
  return std::make_unique<UnstructuredPiece>(leaf, rules, std::move(flags), std::move(labels));
}

}  // namespace tributary
