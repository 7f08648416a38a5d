// SPDX-License-Identifier: BSD-3-Clause
#include "Features/CellSearch.h"

#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkCellType.h>
#include <vtkDataArray.h>
#include <vtkDataSet.h>
#include <vtkDataSetAttributes.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkUnstructuredGrid.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "Common/Leaves.h"
#include "Common/SmpFor.h"
#include "Regions/Pieces/ComponentPiece.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Hash.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Components/CoincidentPoints.h"

namespace tributary {
namespace {

/// Per cell, that are remembered.
constexpr std::size_t MostPlaces = 3;
/// VTK's cells contain places that are outside of them by a thousandth of their size.
constexpr double Tolerance = 4e-3;
/// More than the rounding error of a centroid, as fractions of the cell's diagonal and of the
/// largest coordinate.
constexpr double RoundingOfDiagonal = 1e-9;
constexpr double RoundingOfPlace = 16 * std::numeric_limits<double>::epsilon();

/// Enlarges a box on all sides.
void widen(Box& box, double margin) {
  for (std::size_t a = 0; a < 3; ++a) {
    box.lo[a] -= margin;
    box.hi[a] += margin;
  }
}

double diagonalOf(const Box& box) {
  double squares = 0;
  for (std::size_t a = 0; a < 3; ++a) squares += (box.hi[a] - box.lo[a]) * (box.hi[a] - box.lo[a]);
  return std::sqrt(squares);
}

/// How far from its box the centroid of a cell may be by rounding.
double roundingIn(const Box& box) {
  double largest = 0;
  for (std::size_t a = 0; a < 3; ++a)
    largest = std::max({largest, std::abs(box.lo[a]), std::abs(box.hi[a])});
  return RoundingOfDiagonal * diagonalOf(box) + RoundingOfPlace * largest;
}

/// @param bounds  as VTK gives them
Box boxFrom(const double bounds[6]) {
  return {{bounds[0], bounds[2], bounds[4]}, {bounds[1], bounds[3], bounds[5]}};
}

/// Whether VTK can evaluate a cell.
bool isEvaluable(vtkCell* cell) {
  double point[3], bounds[6];
  for (vtkIdType i = 0; i < cell->GetNumberOfPoints(); ++i) {
    cell->GetPoints()->GetPoint(i, point);
    if (!std::isfinite(point[0]) || !std::isfinite(point[1]) || !std::isfinite(point[2]))
      return false;
  }
  cell->GetBounds(bounds);
  return diagonalOf(boxFrom(bounds)) <= LongestDiagonal;
}

/// The points and cells of a data set, with the arrays that the shapes of its cells depend on.
vtkSmartPointer<vtkDataSet> structureOf(vtkDataSet* dataSet) {
  auto structure = vtkSmartPointer<vtkDataSet>::Take(dataSet->NewInstance());
  structure->CopyStructure(dataSet);
  const char* ghosts = vtkDataSetAttributes::GhostArrayName();
  if (auto* flags = dataSet->GetCellData()->GetArray(ghosts))
    structure->GetCellData()->AddArray(flags);
  if (auto* flags = dataSet->GetPointData()->GetArray(ghosts))
    structure->GetPointData()->AddArray(flags);
  if (auto* degrees = dataSet->GetCellData()->GetHigherOrderDegrees())
    structure->GetCellData()->SetHigherOrderDegrees(degrees);
  if (auto* weights = dataSet->GetPointData()->GetRationalWeights())
    structure->GetPointData()->SetRationalWeights(weights);
  return structure;
}

}  // namespace

CellSearch::CellSearch(const ComponentPiece& piece, const Fingerprint& mesh) : mesh_(mesh) {
  vtkDataSet* dataSet = piece.dataSet();
  if (dataSet->GetNumberOfCells() == 0) return;
  int extent[6];
  const bool hasAxes = extentOf(dataSet, extent) && isAlongAxes(dataSet);
  if (!hasAxes) {
    useCells(dataSet);
    return;
  }
  useAxes(piece, extent);
  double bounds[6];
  dataSet->GetBounds(bounds);
  box_ = boxFrom(bounds);
  widen(box_, margin_);
}

void CellSearch::useAxes(const ComponentPiece& piece, const int extent[6]) {
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
  if (dimensionOf(piece.dataSet()) < 3) margin_ = largest;
}

void CellSearch::useAgain(const ComponentPiece& piece) {
  remembers_ = true;
  if (structure_) view(piece.dataSet());
}

void CellSearch::view(vtkDataSet* dataSet) {
  structure_ = structureOf(dataSet);
  coordinates_.refer(structure_);
  int extent[6];
  if (extentOf(structure_, extent))
    structured_.emplace(pointsAlong(extent));
  else
    refer(lists_, structure_);
  if (auto* grid = vtkUnstructuredGrid::SafeDownCast(structure_))
    listArrays_ = {grid->GetCells()->GetOffsetsArray(), grid->GetCells()->GetConnectivityArray()};
}

void CellSearch::useCells(vtkDataSet* dataSet) {
  if (dataSet->GetNumberOfCells() > std::numeric_limits<std::int32_t>::max())
    throw Error("a data set has more than 2147483647 cells; cut the input into more pieces");
  view(dataSet);
  std::array<int, 256> dimensions;  // of cell types, -1 if not known yet
  dimensions.fill(-1);
  double bounds[6];
  for (vtkIdType c = 0; c < structure_->GetNumberOfCells(); ++c) {
    const int type = lists_.types.empty() ? structure_->GetCellType(c) : lists_.types[index(c)];
    int& dimension = dimensions[static_cast<std::uint8_t>(type)];
    if (dimension < 0) {
      cell_->SetCellType(type);
      dimension = cell_->GetCellDimension();
    }
    if (type == VTK_EMPTY_CELL || dimension == 3) continue;
    structure_->GetCellBounds(c, bounds);
    if (const double diagonal = diagonalOf(boxFrom(bounds)); diagonal <= LongestDiagonal)
      margin_ = std::max(margin_, 0.5 * diagonal);
  }
  findBox();
}

void CellSearch::findBox() {
  double most = 0;  // by which centroids may be outside
  for (vtkIdType cell = 0; cell < structure_->GetNumberOfCells(); ++cell) {
    const Box bounds = boundsOf(cell);
    if (bounds.empty()) continue;
    include(box_, bounds);
    most = std::max(most, roundingIn(bounds));
  }
  if (!box_.empty()) widen(box_, std::max(margin_, most));
}

const CellBins& CellSearch::bins() {
  if (!bins_) {
    const vtkIdType cells = structure_->GetNumberOfCells();
    boxes_.clear();
    boxes_.reserve(index(cells));
    for (vtkIdType cell = 0; cell < cells; ++cell) boxes_.push_back(boxOf(boundsOf(cell)));
    bins_.emplace(box_, static_cast<std::int32_t>(cells),
                  [this](std::int32_t cell) { return boxes_[index(cell)]; });
  }
  return *bins_;
}

/// The box of a cell's points, empty if VTK cannot evaluate the cell.
Box CellSearch::boundsOf(std::int64_t cell) const {
  CellPointIds ids{};
  if (structured_) {
    ids = structured_->pointsOf(cell);
  } else {
    const std::int64_t first = lists_.offsets[index(cell)];
    ids = {0, lists_.connectivity.data() + first, lists_.offsets[index(cell) + 1] - first};
  }
  Box box;
  bool evaluable = true;
  for (std::int64_t i = 0; i < ids.count; ++i) {
    const Place point = coordinates_[ids[i]];
    evaluable = evaluable && isEvaluable(point.data());
    include(box, {point, point});
  }
  return evaluable && diagonalOf(box) <= LongestDiagonal ? box : Box();
}

/// A box that holds all places that a cell may contain.
/// @param bounds  of the cell
Box CellSearch::boxOf(const Box& bounds) const {
  Box box = bounds;
  if (!box.empty()) widen(box, std::max(margin_, Tolerance * diagonalOf(box)) + roundingIn(box));
  return box;
}

/// Whether a centroid is so close to the points of a cell, apart from rounding, that a search for
/// it finds the cell. This does not depend on the other cells of the data set.
bool CellSearch::isNear(std::int64_t cell, const Place& centroid) const {
  Box box = boundsOf(cell);
  if (box.empty()) return false;
  widen(box, roundingIn(box));
  return box.contains(centroid.data());
}

bool CellSearch::isCentered(const ComponentPiece& piece, std::int64_t cell,
                            const Place& place) const {
  return isNear(cell, place) && piece.measure(cell).centroid == place;
}

std::size_t CellSearch::HashOfPlace::operator()(const Place& place) const {
  std::uint64_t hash = 0;
  for (const double coordinate : place) hash = scramble(hash ^ coordinateBits(coordinate));
  return hash;
}

CellSearch::CellsAtPlace CellSearch::at(const ComponentPiece& piece, const Place& place,
                                        bool isCentroid) {
  found_.clear();
  if (!box_.contains(place.data())) return {};
  const auto split = [](const vtkIdType* cells, std::size_t centered, std::size_t count) {
    return CellsAtPlace{{cells, centered}, {cells + centered, count - centered}};
  };
  if (!structure_) {
    findInLattice(place);
    const auto others = std::partition(found_.begin(), found_.end(), [&](vtkIdType cell) {
      return isCentroid && piece.measure(cell).centroid == place;
    });
    return split(found_.data(), index(others - found_.begin()), found_.size());
  }
  if (!isCentroid || !remembers_) {
    const std::size_t centered = findInMesh(piece, place, isCentroid);
    return split(found_.data(), centered, found_.size());
  }
  // Places on a mesh that moves beside this one never come again.
  if (remembered_.size() > MostPlaces * index(structure_->GetNumberOfCells())) {
    remembered_.clear();
    cells_.clear();
  }
  auto known = remembered_.find(place);
  if (known == remembered_.end()) {
    const std::size_t centered = findInMesh(piece, place, true);
    const Range range{cells_.size(), centered, found_.size()};
    cells_.insert(cells_.end(), found_.begin(), found_.end());
    known = remembered_.emplace(place, range).first;
  }
  const Range& range = known->second;
  return split(cells_.data() + range.first, range.centered, range.count);
}

bool CellSearch::findCentered(const ComponentPiece& piece, std::int64_t cell, const Place& centroid,
                              std::vector<vtkIdType>& centered) {
  centered.clear();
  if (!structure_) return false;
  if (!hasCopies_) findCopies(piece);
  const auto add = [&](std::int64_t one) {
    if (isNear(one, centroid)) centered.push_back(one);
  };
  add(cell);
  if (first_.empty()) return true;
  const std::int64_t first = first_[index(cell)];
  if (first != cell) add(first);
  for (auto at =
           std::lower_bound(copies_.begin(), copies_.end(), std::pair(first, std::int64_t(0)));
       at != copies_.end() && at->first == first; ++at)
    if (at->second != cell) add(at->second);
  return true;
}

void CellSearch::findCopies(const ComponentPiece& piece) {
  std::vector<double> centroids(3 * index(piece.cells()));
  {
    const CellSizes sizes = piece.measureCells([](std::int64_t) { return true; });
    for (std::int64_t c = 0; c < piece.cells(); ++c) {
      const Place centroid = sizes[c].centroid;
      std::copy(centroid.begin(), centroid.end(), centroids.begin() + 3 * c);
    }
  }
  first_ = mergeCoincident(Span<const double>(centroids), smpFor);
  for (std::size_t c = 0; c < first_.size(); ++c)
    if (first_[c] != static_cast<std::int64_t>(c)) copies_.emplace_back(first_[c], c);
  std::sort(copies_.begin(), copies_.end());
  if (copies_.empty()) first_ = std::vector<std::int64_t>();  // {} would keep the memory
  hasCopies_ = true;
}

/// The first and the last cell of an axis that contain a coordinate; -1 if there are none.
std::array<vtkIdType, 2> CellSearch::cellsAlong(std::size_t a, double coordinate) {
  const std::vector<double>& axis = axes_[a];
  const auto last = static_cast<vtkIdType>(axis.size()) - 2;
  // Mostly the cell of the place before, or the next one.
  vtkIdType& hint = hints_[a];
  for (vtkIdType i = hint; i <= std::min(hint + 1, last); ++i)
    if (axis[index(i)] < coordinate && coordinate < axis[index(i) + 1]) {
      hint = i;
      return {i, i};
    }
  if (!(coordinate >= axis.front() && coordinate <= axis.back())) return {-1, -1};
  const auto above = std::upper_bound(axis.begin(), axis.end(), coordinate);
  const auto below = std::lower_bound(axis.begin(), axis.end(), coordinate);
  hint = std::clamp<vtkIdType>(below - axis.begin() - 1, 0, last);
  return {hint, std::clamp<vtkIdType>(above - axis.begin() - 1, 0, last)};
}

void CellSearch::findInLattice(const Place& place) {
  // On a border there are two cells along an axis.
  std::array<std::array<vtkIdType, 2>, 3> cells;
  double squares = 0, height = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    const std::vector<double>& axis = axes_[a];
    if (axis.size() == 1) {
      cells[a] = {0, 0};
      height = std::max(height, std::abs(place[a] - axis[0]));
      continue;
    }
    cells[a] = cellsAlong(a, place[a]);
    if (cells[a][0] < 0) return;
    const double width = axis[index(cells[a][0]) + 1] - axis[index(cells[a][0])];
    squares += width * width;
  }
  if (height > 0.5 * std::sqrt(squares)) return;
  const vtkIdType nx = std::max<vtkIdType>(static_cast<vtkIdType>(axes_[0].size()) - 1, 1);
  const vtkIdType ny = std::max<vtkIdType>(static_cast<vtkIdType>(axes_[1].size()) - 1, 1);
  for (vtkIdType k = cells[2][0]; k <= cells[2][1]; ++k)
    for (vtkIdType j = cells[1][0]; j <= cells[1][1]; ++j)
      for (vtkIdType i = cells[0][0]; i <= cells[0][1]; ++i)
        found_.push_back((k * ny + j) * nx + i);
}

std::size_t CellSearch::findInMesh(const ComponentPiece& piece, const Place& place,
                                   bool isCentroid) {
  std::size_t centered = 0;
  const auto box = [this](std::int32_t cell) { return boxes_[index(cell)]; };
  bins().near(place.data(), box, [&](std::int32_t cell) {
    if (!box(cell).contains(place.data())) return;
    if (isCentroid && isCentered(piece, cell, place)) {
      found_.push_back(cell);
      std::swap(found_.back(), found_[centered++]);
    } else if (isIn(cell, place)) {
      found_.push_back(cell);
    }
  });
  return centered;
}

bool CellSearch::isIn(vtkIdType cell, const Place& place) {
  if (!isEvaluable(place.data())) return false;
  structure_->GetCell(cell, cell_);
  if (!isEvaluable(cell_)) return false;
  // Triangle strips set three weights from `part` on, and do not set `part` if they are degenerate.
  int part = 0;
  double closest[3]{}, parameters[3]{}, distance2 = 0;
  weights_.resize(std::max<std::size_t>(index(cell_->GetNumberOfPoints()), 3));
  if (cell_->EvaluatePosition(place.data(), closest, part, parameters, distance2,
                              weights_.data()) != 1)
    return false;
  if (cell_->GetCellDimension() == 3) return true;
  double bounds[6];
  cell_->GetBounds(bounds);
  return std::sqrt(distance2) <= 0.5 * diagonalOf(boxFrom(bounds));
}

}  // namespace tributary
