// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/Pieces/UnstructuredPiece.h"

#include <vtkCellType.h>
#include <vtkPointData.h>
#include <vtkUnstructuredGrid.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "Common/SmpFor.h"
#include "Common/VTKVersions.h"
#include "Regions/Pieces/PointVisits.h"

#include "Tributary/Components/CoincidentPoints.h"

namespace tributary {

PieceMesh::PieceMesh(const Leaf& leaf)
    : lists(cellListsOf(leaf.dataSet)),
      count(static_cast<std::int64_t>(lists.types.size())),
      pointCount(leaf.points()),
      coordinates(leaf.dataSet) {}

void PieceMesh::refer(const Leaf& leaf) {
  tributary::refer(lists, leaf.dataSet);
  coordinates.refer(leaf.dataSet);
}

std::vector<LoosePoint> PieceMesh::loosePoints(double tolerance) const {
  std::vector<LoosePoint> loose;
  for (std::int64_t p = 0; p < pointCount; ++p) loose.push_back({coordinates[p], 0});
  for (std::int64_t c = 0; c < count; ++c) {
    const auto ids = pointsOf(c);
    std::array<double, 3> lo, hi;
    lo.fill(RegionFacts::Infinity);
    hi.fill(-RegionFacts::Infinity);
    for (const std::int64_t p : ids)
      for (std::size_t a = 0; a < 3; ++a) {
        lo[a] = std::min(lo[a], loose[index(p)].place[a]);
        hi[a] = std::max(hi[a], loose[index(p)].place[a]);
      }
    double squares = 0;
    for (std::size_t a = 0; a < 3; ++a) squares += (hi[a] - lo[a]) * (hi[a] - lo[a]);
    const double reach = tolerance * std::sqrt(squares);
    for (const std::int64_t p : ids) loose[index(p)].reach = std::max(loose[index(p)].reach, reach);
  }
  return loose;
}

UnstructuredPiece::UnstructuredPiece(PieceSource&& source, const DomainRules& rules,
                                     PieceMesh&& mesh, std::vector<SetName> clusters)
    : ComponentPiece(std::move(source), rules),
      mesh_(std::move(mesh)),
      clusters_(std::move(clusters)) {
  if (rules_.points == DomainRules::Points::Ids && mesh_.count > 0)
    pointIds_ = exactIds(leaf_.dataSet->GetPointData()->GetGlobalIds());
  mergePoints();
}

std::size_t UnstructuredPiece::memory() const {
  return ComponentPiece::memory() + mesh_.memory() + memoryOf(first_) + memoryOf(copies_) +
         memoryOf(mergedPoints_) + numbered_.memory() + memoryOf(pointIds_) + memoryOf(clusters_);
}

void UnstructuredPiece::readAgain() {
  mesh_.refer(leaf_);
  const CellLists& lists = mesh_.lists;
  cellPoints_ = {lists.offsets, lists.connectivity, points()};
  if (!mergedPoints_.empty()) cellPoints_.entities = mergedPoints_;
}

CellSize UnstructuredPiece::measure(std::int64_t cell) const {
  const auto ids = mesh_.pointsOf(cell);
  return sizeOfCell(mesh_.lists.types[index(cell)], static_cast<std::int64_t>(ids.size()),
                    ids.data(), mesh_.coordinates.view(), leaf_.dataSet, cell);
}

Box UnstructuredPiece::boundsOf(std::int64_t cell) const {
  Box box;
  for (const std::int64_t p : mesh_.pointsOf(cell)) include(box, {place(p), place(p)});
  return box;
}

std::vector<std::int64_t> UnstructuredPiece::findCoincident() const {
  if (mesh_.count == 0) return {};
  const bool areClusters = rules_.points == DomainRules::Points::Clusters;
  if (areClusters || rules_.points == DomainRules::Points::Ids) {
    // As points in space, to be merged like those: a block's number and the halves of an id are
    // exact as doubles.
    std::vector<double> places;
    places.reserve(3 * index(points()));
    const auto add = [&](std::int64_t block, std::int64_t id) {
      places.push_back(static_cast<double>(id & 0xffffffff));
      places.push_back(static_cast<double>(id >> 32));
      places.push_back(static_cast<double>(block));
    };
    if (areClusters)
      for (const SetName& name : clusters_) add(name.block, name.set);
    else
      for (const std::int64_t id : pointIds_) add(0, id);
    return mergeCoincident(Span<const double>(places), smpFor);
  }
  const std::size_t count = index(3 * points());
  if (const double* doubles = mesh_.coordinates.view().doubles())
    return mergeCoincident(Span<const double>(doubles, count), smpFor);
  return mergeCoincident(Span<const float>(mesh_.coordinates.view().floats(), count), smpFor);
}

void UnstructuredPiece::mergePoints() {
  first_ = findCoincident();
  for (std::size_t p = 0; p < first_.size(); ++p)
    if (first_[p] != static_cast<std::int64_t>(p))
      copies_.emplace_back(first_[p], static_cast<std::int64_t>(p));
  std::sort(copies_.begin(), copies_.end());
  const CellLists& lists = mesh_.lists;
  cellPoints_ = {lists.offsets, lists.connectivity, points()};
  if (copies_.empty()) {
    first_ = std::vector<std::int64_t>();  // {} would keep the memory
  } else {
    mergedPoints_.reserve(lists.connectivity.size());
    for (const std::int64_t p : lists.connectivity) mergedPoints_.push_back(first_[index(p)]);
    cellPoints_.entities = mergedPoints_;
  }
  if (throughPoints()) return;
  auto* grid = vtkUnstructuredGrid::SafeDownCast(leaf_.dataSet);
  const FaceStream polyhedra = grid ? faceStreamOf(grid) : FaceStream();
  MeshCells cells;
  cells.types = lists.types;
  cells.offsets = lists.offsets;
  cells.connectivity = lists.connectivity;
  cells.faceLocations = polyhedra.locations;
  cells.faces = polyhedra.faces;
  cells.pointCount = points();
  cells.canonical = first_;
  numbered_ = numberEntities(cells, rules_.through, {}, smpFor);
}

std::vector<std::uint8_t> SharedMesh::cellsInRange(const RangeTest& test) const {
  const std::vector<std::uint8_t>& flags = piece_.flags_;
  std::vector<std::uint8_t> inRange;
  if (!test.scalars && flags.empty()) return inRange;
  inRange.assign(index(piece_.mesh_.count), 1);
  const std::vector<std::uint64_t> mask = rangeBits(test);
  const auto isIn = [&](std::int64_t i) { return (mask[index(i >> 6)] >> (i & 63) & 1) != 0; };
  smpFor(piece_.mesh_.count, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = begin; c < end; ++c) {
      std::uint8_t& in = inRange[index(c)];
      if (piece_.isHidden(c)) {
        in = 0;
      } else if (test.scalars && test.atCells) {
        in = isIn(c) ? 1 : 0;
      } else if (test.scalars) {
        const auto ids = piece_.mesh_.pointsOf(c);
        const bool good = test.allPoints ? !ids.empty() && std::all_of(ids.begin(), ids.end(), isIn)
                                         : std::any_of(ids.begin(), ids.end(), isIn);
        in = good ? 1 : 0;
      }
    }
  });
  return inRange;
}

std::unique_ptr<LabeledPiece> SharedMesh::label(const RangeTest& test,
                                                Span<const std::uint64_t>) const {
  const CellEntities entities =
      piece_.throughPoints() ? piece_.cellPoints_ : piece_.numbered_.cells();
  const std::int64_t* values = piece_.values_.empty() ? nullptr : piece_.values_.data();
  return std::make_unique<LabeledMesh>(piece_, *this,
                                       labelMesh(entities, cellsInRange(test), values, smpFor));
}

void LabeledMesh::write(RegionOutput& output) const {
  if (output.cells)
    smpFor(mesh_.mesh_.count, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t c = begin; c < end; ++c)
        output.cells[c] = setOfCell(c) == NoSet ? -1 : output.shownOf[setOfCell(c)];
    });
  const std::int64_t points = mesh_.points();
  if (output.points) std::fill_n(output.points, points, vtkIdType(-1));
  output.pointsOfSet.assign(labels_.sets, 0);
  visitRegionsAtPoints(
      points, mesh_.mesh_.count, [&](std::int64_t c) { return setOfCell(c); },
      [&](std::int64_t c) { return mesh_.pointsOf(c); }, output.numberOf,
      [&](std::int64_t point, std::uint32_t set) {
        if (!points_.contains(point)) ++output.pointsOfSet[set];
        const std::int64_t shown = output.shownOf[set];
        if (!output.points || shown < 0) return;
        vtkIdType& out = output.points[point];
        if (out < 0 || shown < out) out = shown;
      });
  if (output.points && !mesh_.first_.empty())
    for (std::int64_t p = 0; p < points; ++p) output.points[p] = output.points[mesh_.firstOf(p)];
}

void LabeledMesh::writeShared(std::int64_t shared, vtkIdType region, vtkIdType* points) const {
  const std::int64_t point = points_.points()[index(shared)];
  points[point] = region;
  const auto before = [](const std::pair<std::int64_t, std::int64_t>& copy, std::int64_t p) {
    return copy.first < p;
  };
  const auto& copies = mesh_.copies_;
  for (auto copy = std::lower_bound(copies.begin(), copies.end(), point, before);
       copy != copies.end() && copy->first == point; ++copy)
    points[copy->second] = region;
}

std::vector<std::uint32_t> LabeledMesh::setsAt(const std::vector<std::int64_t>& wanted) const {
  std::vector<char> isWanted(index(mesh_.points()), 0);
  for (const std::int64_t p : wanted) isWanted[index(mesh_.firstOf(p))] = 1;
  std::vector<std::uint32_t> sets;
  for (std::int64_t c = 0; c < mesh_.mesh_.count; ++c) {
    if (setOfCell(c) == NoSet) continue;
    for (const std::int64_t p : mesh_.pointsOf(c)) {
      if (isWanted[index(p)] == 0) continue;
      sets.push_back(setOfCell(c));
      break;
    }
  }
  return sets;
}

NearestPoints LabeledMesh::nearest(const std::array<double, 3>& where) const {
  NearestPoints nearest;
  for (std::int64_t c = 0; c < mesh_.mesh_.count; ++c) {
    if (setOfCell(c) == NoSet) continue;
    for (const std::int64_t p : mesh_.mesh_.pointsOf(c))
      nearest.add(where, mesh_.place(p), setOfCell(c), mesh_.rules_.periodic);
  }
  return nearest;
}

}  // namespace tributary
