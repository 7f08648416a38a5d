// SPDX-License-Identifier: BSD-3-Clause
#include "Grids/GridCells.h"

#include <vtkDataArray.h>
#include <vtkDataObject.h>
#include <vtkDataSet.h>
#include <vtkDataSetAttributes.h>
#include <vtkImageData.h>
#include <vtkMatrix3x3.h>
#include <vtkRectilinearGrid.h>
#include <vtkStructuredGrid.h>
#include <vtkUnsignedCharArray.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "Common/Leaves.h"

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Relaxation/SiteLattice.h"

namespace tributary {
namespace {

/// Coordinates that differ by less than this share of a cell's width are the same.
constexpr double SamePlace = 1e-5;

using Index = std::int64_t;

/// Points along an axis: the index of the first one in the whole extent, and the coordinates.
struct AxisPoints {
  Index first = 0;
  std::vector<double> places;
};

/// The points of a structured grid. Throws Error if they do not lie on lines along the axes.
void readStructured(vtkStructuredGrid* structured, const int extent[6],
                    std::array<AxisPoints, 3>& axes) {
  const std::array<Index, 3> n{extent[1] - extent[0] + 1, extent[3] - extent[2] + 1,
                               extent[5] - extent[4] + 1};
  const std::array<Index, 3> step{1, n[0], n[0] * n[1]};
  double place[3];
  for (std::size_t a = 0; a < 3; ++a)
    for (Index i = 0; i < n[a]; ++i) {
      structured->GetPoint(i * step[a], place);
      axes[a].places.push_back(place[a]);
    }
  for (Index k = 0; k < n[2]; ++k)
    for (Index j = 0; j < n[1]; ++j)
      for (Index i = 0; i < n[0]; ++i) {
        structured->GetPoint(i * step[0] + j * step[1] + k * step[2], place);
        const Index at[3] = {i, j, k};
        for (std::size_t a = 0; a < 3; ++a) {
          const auto& places = axes[a].places;
          const double width =
              n[a] > 1 ? (places.back() - places.front()) / static_cast<double>(n[a] - 1) : 1;
          if (!(std::fabs(place[a] - places[index(at[a])]) <= SamePlace * std::fabs(width)))
            throw Error(
                "the points of the structured grid do not lie on lines along the axes; "
                "resample it to an image");
        }
      }
}

void readImage(vtkImageData* image, const int extent[6], std::array<AxisPoints, 3>& axes) {
  for (std::size_t a = 0; a < 3; ++a)
    for (Index i = extent[2 * a]; i <= extent[2 * a + 1]; ++i)
      axes[a].places.push_back(image->GetOrigin()[a] +
                               static_cast<double>(i) * image->GetSpacing()[a]);
}

void readRectilinear(vtkRectilinearGrid* rectilinear, std::array<AxisPoints, 3>& axes) {
  vtkDataArray* const arrays[] = {rectilinear->GetXCoordinates(), rectilinear->GetYCoordinates(),
                                  rectilinear->GetZCoordinates()};
  for (std::size_t a = 0; a < 3; ++a)
    for (vtkIdType i = 0; i < arrays[a]->GetNumberOfTuples(); ++i)
      axes[a].places.push_back(arrays[a]->GetComponent(i, 0));
}

/// The points of a data set. Throws Error if it is not a grid along the axes.
std::array<AxisPoints, 3> axesOf(vtkDataSet* dataSet, DecreasingAxes decreasing) {
  int extent[6];
  if (!extentOf(dataSet, extent))
    throw Error(std::string("the input is a ") + dataSet->GetClassName() +
                "; it must be an image, a rectilinear grid or a structured grid along the axes: "
                "resample it to an image");
  std::array<AxisPoints, 3> axes;
  for (std::size_t a = 0; a < 3; ++a) axes[a].first = extent[2 * a];
  if (auto* structured = vtkStructuredGrid::SafeDownCast(dataSet)) {
    readStructured(structured, extent, axes);
  } else if (auto* image = vtkImageData::SafeDownCast(dataSet)) {
    if (!image->GetDirectionMatrix()->IsIdentity())
      throw Error("the input's axes are rotated; resample it to an image without a direction");
    readImage(image, extent, axes);
  } else {
    readRectilinear(vtkRectilinearGrid::SafeDownCast(dataSet), axes);
  }
  const bool isMirrored = decreasing == DecreasingAxes::Mirrored;
  for (AxisPoints& axis : axes) {
    if (isMirrored && axis.places.back() < axis.places.front())
      for (double& place : axis.places) place = -place;
    for (std::size_t i = 1; i < axis.places.size(); ++i)
      if (!(axis.places[i] > axis.places[i - 1]))
        throw Error(std::string("the input's coordinates do not increase") +
                    (isMirrored ? ", or decrease, along each axis" : " along each axis") +
                    "; resample it to an image");
  }
  return axes;
}

/// Visits the cells of `range` with their places in `piece`, x fastest.
template <class Visit>
void forEachCell(const CellRange& range, const CellRange& piece, Visit&& visit) {
  for (auto k = range.lo[2]; k < range.hi[2]; ++k)
    for (auto j = range.lo[1]; j < range.hi[1]; ++j) {
      const Index row =
          ((k - piece.lo[2]) * piece.along(1) + j - piece.lo[1]) * piece.along(0) - piece.lo[0];
      for (auto i = range.lo[0]; i < range.hi[0]; ++i) visit(row + i);
    }
}

/// The bounding box of two boxes.
CellRange around(const CellRange& one, const CellRange& other) {
  if (one.empty()) return other;
  if (other.empty()) return one;
  CellRange both;
  for (std::size_t a = 0; a < 3; ++a) {
    both.lo[a] = std::min(one.lo[a], other.lo[a]);
    both.hi[a] = std::max(one.hi[a], other.hi[a]);
  }
  return both;
}

/// The box of all pieces' own cells. Throws Error if they do not fill it, or overlap.
CellRange boxOf(const std::vector<GridPiece>& pieces) {
  CellRange box;
  Index count = 0;
  for (std::size_t n = 0; n < pieces.size(); ++n) {
    box = around(box, pieces[n].own);
    count += pieces[n].own.cells();
    for (std::size_t m = 0; m < n; ++m)
      if (!overlapOf(pieces[n].own, pieces[m].own).empty())
        throw Error(
            "two data sets of a rank share cells; mark these as ghost cells in one of them");
  }
  if (count != box.cells())
    throw Error("the cells of the " + std::to_string(pieces.size()) +
                " data sets of a rank do not form a box; merge them, or resample them to an "
                "image");
  return box;
}

/// The cells of a piece that are not ghost cells. Throws Error if they do not form a box.
CellRange ownBox(const CellRange& piece, vtkDataSet* dataSet) {
  vtkUnsignedCharArray* ghosts = cellGhosts(dataSet);
  if (!ghosts) return piece;
  constexpr auto None = std::numeric_limits<Index>::max();
  CellRange box{{None, None, None}, {0, 0, 0}};
  Index own = 0, at = 0;
  for (auto k = piece.lo[2]; k < piece.hi[2]; ++k)
    for (auto j = piece.lo[1]; j < piece.hi[1]; ++j)
      for (auto i = piece.lo[0]; i < piece.hi[0]; ++i) {
        if (ghosts->GetValue(at++) & vtkDataSetAttributes::DUPLICATECELL) continue;
        const Index cell[3] = {i, j, k};
        for (std::size_t a = 0; a < 3; ++a) {
          box.lo[a] = std::min(box.lo[a], cell[a]);
          box.hi[a] = std::max(box.hi[a], cell[a] + 1);
        }
        ++own;
      }
  if (own == 0) return {};
  if (own != box.cells())
    throw Error(
        "the cells of a data set that are not ghost cells do not form a box; split the data set "
        "into boxes");
  return box;
}

/// The points of the cells of a piece.
struct CellPoints {
  CellPoints(const GridCells& cells, const GridPiece& piece) : isFlat(cells.isFlat) {
    std::array<Index, 3> n;
    for (std::size_t a = 0; a < 3; ++a) {
      cellCounts[a] = piece.all.along(a);
      n[a] = cellCounts[a] + (isFlat[a] ? 0 : 1);
    }
    step = {1, n[0], n[0] * n[1]};
  }
  /// The first point of a cell.
  Index first(Index cell) const {
    const Index i = cell % cellCounts[0], rest = cell / cellCounts[0];
    return i * step[0] + rest % cellCounts[1] * step[1] + rest / cellCounts[1] * step[2];
  }
  /// Offsets of the points of a cell from its first point, or of those of the face at an end (0 or
  /// 1) of the cell along an axis.
  std::vector<Index> offsets(int axis = -1, int end = 0) const {
    std::vector<Index> all;
    for (int corner = 0; corner < 8; ++corner) {
      Index offset = 0;
      bool isOne = true;
      for (int a = 0; a < 3; ++a) {
        const int up = corner >> a & 1;
        if (a == axis && !isFlat[index(a)]) isOne = isOne && up == end;
        if (isFlat[index(a)]) isOne = isOne && up == 0;
        offset += up * step[index(a)];
      }
      if (isOne) all.push_back(offset);
    }
    return all;
  }

  std::array<bool, 3> isFlat;
  std::array<Index, 3> step, cellCounts;
};

double meanOf(vtkDataArray* array, Index first, const std::vector<Index>& offsets, int component) {
  double sum = 0;
  for (const Index offset : offsets) sum += array->GetComponent(first + offset, component);
  return sum / static_cast<double>(offsets.size());
}

/// Visits the own cells of a piece with their places in the piece and in the rank's box.
template <class Visit>
void forEachOwn(const GridCells& cells, const GridPiece& piece, Visit&& visit) {
  const CellRange &own = piece.own, &box = cells.box;
  for (auto k = own.lo[2]; k < own.hi[2]; ++k)
    for (auto j = own.lo[1]; j < own.hi[1]; ++j) {
      const Index row =
          ((k - box.lo[2]) * box.along(1) + j - box.lo[1]) * box.along(0) + own.lo[0] - box.lo[0];
      const Index inPiece =
          ((k - piece.all.lo[2]) * piece.all.along(1) + j - piece.all.lo[1]) * piece.all.along(0) +
          own.lo[0] - piece.all.lo[0];
      for (Index i = 0; i < own.along(0); ++i) visit(inPiece + i, index(row + i));
    }
}

std::vector<std::uint8_t> hiddenCells(const GridCells& cells) {
  std::vector<std::uint8_t> hidden(cells.count(), 0);
  for (const GridPiece& piece : cells.pieces) {
    vtkUnsignedCharArray* atCells = piece.dataSet->GetCellGhostArray();
    vtkUnsignedCharArray* atPoints = pointGhosts(piece.dataSet);
    const CellPoints points(cells, piece);
    const std::vector<Index> offsets = points.offsets();
    forEachOwn(cells, piece, [&](Index cell, std::size_t place) {
      bool is = atCells && (atCells->GetValue(cell) & vtkDataSetAttributes::HIDDENCELL);
      if (atPoints)
        for (const Index offset : offsets)
          is = is || (atPoints->GetValue(points.first(cell) + offset) &
                      vtkDataSetAttributes::HIDDENPOINT);
      hidden[place] = is ? 1 : 0;
    });
  }
  return hidden;
}

[[noreturn]] void throwNotCovered() {
  throw Error(
      "the pieces of the ranks do not cover the grid, or their coordinates do not increase; use "
      "pieces that cover the grid");
}

/// Reads the axes of a piece, whose indices are ints.
std::array<AxisPoints, 3> readAxes(Reader& reader) {
  std::array<AxisPoints, 3> axes;
  for (AxisPoints& axis : axes) {
    axis.first = reader.value<Index>();
    axis.places = reader.range<double>();
    const auto last = static_cast<Index>(axis.places.size()) - 1;
    constexpr Index Least = std::numeric_limits<int>::min(), Most = std::numeric_limits<int>::max();
    if (last < 0 || last > Most || axis.first < Least || axis.first > Most - last)
      refuseMessage("an axis of " + std::to_string(last + 1) + " points from " +
                    std::to_string(axis.first));
  }
  return axes;
}

/// The points of the whole grid along an axis. Throws Error if pieces have different coordinates
/// for a point.
AxisPoints mergeAxis(const std::vector<std::array<AxisPoints, 3>>& pieces, std::size_t axis) {
  Index begin = std::numeric_limits<Index>::max(), end = std::numeric_limits<Index>::min();
  Index points = 0;
  for (const auto& axes : pieces) {
    const auto count = static_cast<Index>(axes[axis].places.size());
    begin = std::min(begin, axes[axis].first);
    end = std::max(end, axes[axis].first + count);
    points += count;
  }
  if (end - begin > points) throwNotCovered();  // before memory for the gap is allocated
  AxisPoints merged;
  merged.first = begin;
  std::vector<double>& ends = merged.places;
  ends.assign(index(end - begin), std::numeric_limits<double>::quiet_NaN());
  for (const auto& axes : pieces)
    for (std::size_t i = 0; i < axes[axis].places.size(); ++i) {
      double& known = ends[index(axes[axis].first - begin) + i];
      if (std::isnan(known)) known = axes[axis].places[i];
    }
  const double width = (ends.back() - ends.front()) / static_cast<double>(ends.size());
  for (const auto& axes : pieces)
    for (std::size_t i = 0; i < axes[axis].places.size(); ++i)
      if (std::fabs(ends[index(axes[axis].first - begin) + i] - axes[axis].places[i]) >
          SamePlace * width)
        throw Error(
            "points at the same index of the extent have different coordinates in different data "
            "sets; all data sets must be pieces of one grid");
  return merged;
}

/// Sets the grid along an axis and the ranges of this rank's pieces along it.
void setAxis(GridCells& cells, std::size_t axis, AxisPoints&& merged,
             const std::vector<std::array<AxisPoints, 3>>& mine) {
  std::vector<double>& ends = cells.grid.ends[axis];
  ends = std::move(merged.places);
  cells.isFlat[axis] = ends.size() == 1;
  if (cells.isFlat[axis]) ends.push_back(ends.front() + 1);
  for (std::size_t i = 1; i < ends.size(); ++i)
    if (!(ends[i] > ends[i - 1])) throwNotCovered();
  for (std::size_t n = 0; n < mine.size(); ++n) {
    CellRange& range = cells.pieces[n].all;
    const auto points = static_cast<Index>(mine[n][axis].places.size());
    range.lo[axis] = mine[n][axis].first - merged.first;
    range.hi[axis] = range.lo[axis] + (cells.isFlat[axis] ? 1 : points - 1);
    if (range.along(axis) == 0)
      throw Error("a piece of the grid has no cells along an axis; remove it from the input");
  }
}

/// The place of the cell of the box that contains a point, if there is one.
std::optional<std::size_t> cellAt(const GridCells& cells, const double* point) {
  const CellRange& box = cells.box;
  if (box.empty()) return std::nullopt;
  Index at[3];
  for (std::size_t a = 0; a < 3; ++a) {
    const auto& ends = cells.grid.ends[a];
    const double x = point[a];
    at[a] = 0;
    if (cells.isFlat[a]) continue;
    if (!(x >= ends.front() && x <= ends.back())) return std::nullopt;
    const auto above = std::upper_bound(ends.begin(), ends.end() - 1, x) - ends.begin();
    at[a] = static_cast<Index>(above) - 1;
    if (at[a] < box.lo[a] || at[a] >= box.hi[a]) return std::nullopt;
  }
  return index(((at[2] - box.lo[2]) * box.along(1) + at[1] - box.lo[1]) * box.along(0) + at[0] -
               box.lo[0]);
}

}  // namespace

bool isWholeArray(const PieceArray& array, vtkDataSet* dataSet) {
  return array.array &&
         array.array->GetNumberOfTuples() ==
             (array.isAtCells ? dataSet->GetNumberOfCells() : dataSet->GetNumberOfPoints());
}

GridCells gridCellsOf(Transport& transport, vtkDataObject* input, DecreasingAxes decreasing) {
  GridCells cells;
  std::vector<std::array<AxisPoints, 3>> mine;
  Writer writer;
  collectively(transport, [&] {
    for (const Leaf& leaf : leavesAndTreesOf(input)) {
      if (leaf.cells() == 0) continue;
      if (leaf.trees) throw Error("the input is a hyper tree grid; resample it to an image");
      cells.pieces.emplace_back();
      cells.pieces.back().dataSet = leaf.dataSet;
      mine.push_back(axesOf(leaf.dataSet, decreasing));
      for (const AxisPoints& axis : mine.back()) writer.value(axis.first).range(axis.places);
    }
  });
  std::vector<std::array<AxisPoints, 3>> all;
  allgatherRead(transport, writer.take(),
                [&](Reader& reader, int) { all.push_back(readAxes(reader)); });
  if (all.empty()) throw Error("the input has no cells; choose a grid with cells");
  collectively(transport, [&] {
    for (std::size_t a = 0; a < 3; ++a) setAxis(cells, a, mergeAxis(all, a), mine);
    for (GridPiece& piece : cells.pieces) piece.own = ownBox(piece.all, piece.dataSet);
    cells.box = boxOf(cells.pieces);
    cells.hidden = hiddenCells(cells);
  });
  const Index own = allreduce(transport, ReduceOp::Sum, cells.box.cells());
  const Index whole = cells.grid.along(0) * cells.grid.along(1) * cells.grid.along(2);
  if (own != whole)
    throw Error("the ranks have " + std::to_string(own) + " of the grid's " +
                std::to_string(whole) +
                " cells, without ghost cells; use pieces that fill the grid, and mark copies of "
                "cells on other ranks as ghost cells");
  return cells;
}

std::vector<double> cellValues(const GridCells& cells, const std::vector<PieceArray>& arrays,
                               int component) {
  std::vector<double> values(cells.count());
  for (std::size_t n = 0; n < cells.pieces.size(); ++n) {
    const auto [array, isAtCells] = arrays[n];
    const CellPoints points(cells, cells.pieces[n]);
    const std::vector<Index> offsets = points.offsets();
    forEachOwn(cells, cells.pieces[n],
               [&, array = array, isAtCells = isAtCells](Index cell, std::size_t place) {
                 values[place] = isAtCells ? array->GetComponent(cell, component)
                                           : meanOf(array, points.first(cell), offsets, component);
               });
  }
  return values;
}

CellFlow cellFlow(const GridCells& cells, const std::vector<PieceArray>& vectors, bool onFaces,
                  const char* cure) {
  CellFlow flow;
  flow.solid = cells.hidden;
  for (int a = 0; a < 3; ++a)
    for (int end = 0; end < 2; ++end) {
      std::vector<double>& values = (end == 0 ? flow.low : flow.high)[index(a)];
      values.assign(cells.count(), 0.0);
      if (cells.isFlat[index(a)]) continue;
      for (std::size_t n = 0; n < cells.pieces.size(); ++n) {
        vtkDataArray* const array = vectors[n].array;
        const bool isAtCells = vectors[n].isAtCells;
        const CellPoints points(cells, cells.pieces[n]);
        std::vector<Index> offsets = points.offsets(a, end);
        if (onFaces) offsets = {*std::min_element(offsets.begin(), offsets.end())};
        forEachOwn(cells, cells.pieces[n], [&](Index cell, std::size_t place) {
          if (flow.solid[place] != 0) return;
          values[place] = isAtCells ? array->GetComponent(cell, a)
                                    : meanOf(array, points.first(cell), offsets, a);
          if (!std::isfinite(values[place]))
            throw Error("the velocity at cell " + std::to_string(cell) +
                        " of a data set is not finite; replace the value, or choose " + cure);
        });
      }
    }
  return flow;
}

std::vector<std::size_t> cellsWithPoints(Transport& transport, const GridCells& cells,
                                         const std::vector<double>& points) {
  const std::vector<double> all = allgatherv(transport, points);
  std::vector<std::size_t> found;
  collectively(transport, [&] {
    for (std::size_t p = 0; p + 2 < all.size(); p += 3)
      if (const std::optional<std::size_t> cell = cellAt(cells, all.data() + p))
        found.push_back(*cell);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
  });
  return found;
}

}  // namespace tributary
