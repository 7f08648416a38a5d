#include "GridCells.h"

#include <vtkDataArray.h>
#include <vtkDataObject.h>
#include <vtkDataSet.h>
#include <vtkDataSetAttributes.h>
#include <vtkImageData.h>
#include <vtkRectilinearGrid.h>
#include <vtkStructuredGrid.h>
#include <vtkUnsignedCharArray.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "Leaves.h"

#include "Tributary/Agree.h"
#include "Tributary/Bytes.h"
#include "Tributary/Error.h"
#include "Tributary/Transport/Collectives.h"

namespace tributary {
namespace {

/// Places of points that differ by less than this share of a cell's width are the same.
constexpr double kSamePlace = 1e-5;

using Index = std::int64_t;

std::size_t size(Index i) {
  return static_cast<std::size_t>(i);
}

/// Points along an axis: the first one's number in the whole extent, and their coordinates.
struct AxisPoints {
  Index first = 0;
  std::vector<double> places;
};

/// The points of a structured grid, if they lie on lines along the axes.
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
          if (!(std::fabs(place[a] - places[size(at[a])]) <= kSamePlace * std::fabs(width)))
            throw Error(
                "the points of the structured grid do not lie on lines along the axes; "
                "resample it to an image");
        }
      }
}

std::array<AxisPoints, 3> axesOf(vtkDataSet* dataSet) {
  int extent[6];
  if (!extentOf(dataSet, extent))
    throw Error(std::string("the input is a ") + dataSet->GetClassName() +
                "; it must be an image, a rectilinear grid or a structured grid along the axes: "
                "resample it to an image");
  std::array<AxisPoints, 3> axes;
  for (std::size_t a = 0; a < 3; ++a) axes[a].first = extent[2 * a];
  if (auto* structured = vtkStructuredGrid::SafeDownCast(dataSet)) {
    readStructured(structured, extent, axes);
  } else if (!isAlongAxes(dataSet)) {
    throw Error(
        "the input's axes are turned, or its coordinates do not increase; resample it to "
        "an image");
  } else if (auto* image = vtkImageData::SafeDownCast(dataSet)) {
    for (std::size_t a = 0; a < 3; ++a)
      for (Index i = extent[2 * a]; i <= extent[2 * a + 1]; ++i)
        axes[a].places.push_back(image->GetOrigin()[a] +
                                 static_cast<double>(i) * image->GetSpacing()[a]);
  } else {
    auto* rectilinear = vtkRectilinearGrid::SafeDownCast(dataSet);
    vtkDataArray* const arrays[] = {rectilinear->GetXCoordinates(), rectilinear->GetYCoordinates(),
                                    rectilinear->GetZCoordinates()};
    for (std::size_t a = 0; a < 3; ++a)
      for (vtkIdType i = 0; i < arrays[a]->GetNumberOfTuples(); ++i)
        axes[a].places.push_back(arrays[a]->GetComponent(i, 0));
  }
  for (const AxisPoints& axis : axes)
    for (std::size_t i = 1; i < axis.places.size(); ++i)
      if (!(axis.places[i] > axis.places[i - 1]))
        throw Error("the input's coordinates do not increase along each axis");
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

CellRange overlapOf(const CellRange& one, const CellRange& other) {
  CellRange both;
  for (std::size_t a = 0; a < 3; ++a) {
    both.lo[a] = std::max(one.lo[a], other.lo[a]);
    both.hi[a] = std::min(one.hi[a], other.hi[a]);
  }
  return both;
}

/// The cells of the piece that are no ghosts, which must be a box.
CellRange ownBox(const CellRange& piece, vtkDataSet* dataSet) {
  vtkUnsignedCharArray* ghosts = dataSet->GetCellGhostArray();
  if (!ghosts) return piece;
  if (ghosts->GetNumberOfValues() != piece.cells())
    throw Error("a data set has " + std::to_string(ghosts->GetNumberOfValues()) +
                " ghost flags for " + std::to_string(piece.cells()) + " cells");
  constexpr auto none = std::numeric_limits<Index>::max();
  CellRange box{{none, none, none}, {0, 0, 0}};
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
  if (own != box.cells()) throw Error("the cells of a data set that are no ghosts are not a box");
  return box;
}

/// A cell's points, seen from its own first one: along each axis 0 or 1 steps further.
struct CellPoints {
  CellPoints(const GridCells& cells) {
    std::array<Index, 3> n;
    for (std::size_t a = 0; a < 3; ++a) {
      isFlat[a] = cells.isFlat[a];
      n[a] = cells.piece.along(a) + (isFlat[a] ? 0 : 1);
      cellCounts[a] = cells.piece.along(a);
    }
    step = {1, n[0], n[0] * n[1]};
  }
  /// The first point of the cell at a place of the piece.
  Index first(Index cell) const {
    const Index i = cell % cellCounts[0], rest = cell / cellCounts[0];
    return i * step[0] + rest % cellCounts[1] * step[1] + rest / cellCounts[1] * step[2];
  }
  /// Offsets of the points of a cell, or of its face across an axis at an end.
  std::vector<Index> offsets(int axis = -1, int end = 0) const {
    std::vector<Index> all;
    for (int corner = 0; corner < 8; ++corner) {
      Index offset = 0;
      bool isOne = true;
      for (int a = 0; a < 3; ++a) {
        const int up = corner >> a & 1;
        if (a == axis && !isFlat[size(a)]) isOne = isOne && up == end;
        if (isFlat[size(a)]) isOne = isOne && up == 0;
        offset += up * step[size(a)];
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

std::vector<std::uint8_t> hiddenCells(const GridCells& cells) {
  std::vector<std::uint8_t> hidden;
  vtkUnsignedCharArray* atCells = cells.dataSet->GetCellGhostArray();
  vtkUnsignedCharArray* atPoints = pointGhosts(cells.dataSet);
  const CellPoints points(cells);
  const std::vector<Index> offsets = points.offsets();
  hidden.reserve(cells.count());
  forEachCell(cells.box, cells.piece, [&](Index cell) {
    bool is = atCells && (atCells->GetValue(cell) & vtkDataSetAttributes::HIDDENCELL);
    if (atPoints)
      for (const Index offset : offsets)
        is = is ||
             (atPoints->GetValue(points.first(cell) + offset) & vtkDataSetAttributes::HIDDENPOINT);
    hidden.push_back(is ? 1 : 0);
  });
  return hidden;
}

}  // namespace

GridCells gridCellsOf(Transport& transport, vtkDataObject* input) {
  GridCells cells;
  std::array<AxisPoints, 3> mine;
  Writer writer;
  together(transport, [&] {
    std::vector<Leaf> leaves = leavesAndTreesOf(input);
    const auto isEmpty = [](const Leaf& leaf) { return leaf.cells() == 0; };
    leaves.erase(std::remove_if(leaves.begin(), leaves.end(), isEmpty), leaves.end());
    if (leaves.size() > 1)
      throw Error("a rank has " + std::to_string(leaves.size()) +
                  " data sets; each must have one piece of one grid: merge the blocks, or resample "
                  "them to an image");
    if (leaves.empty()) return;
    if (leaves.front().trees)
      throw Error("the input is a hyper tree grid; resample it to an image");
    cells.dataSet = leaves.front().dataSet;
    mine = axesOf(cells.dataSet);
    for (const AxisPoints& axis : mine) writer.value(axis.first).range(axis.places);
  });
  std::vector<std::array<AxisPoints, 3>> all;
  allgatherRead(transport, writer.take(), [&](Reader& reader, int) {
    all.emplace_back();
    for (AxisPoints& axis : all.back()) {
      axis.first = reader.value<Index>();
      axis.places = reader.range<double>();
    }
  });
  if (all.empty()) throw Error("the input has no cells");
  together(transport, [&] {
    for (std::size_t a = 0; a < 3; ++a) {
      Index begin = std::numeric_limits<Index>::max(), end = std::numeric_limits<Index>::min();
      for (const auto& axes : all) {
        begin = std::min(begin, axes[a].first);
        end = std::max(end, axes[a].first + static_cast<Index>(axes[a].places.size()));
      }
      std::vector<double>& ends = cells.grid.ends[a];
      ends.assign(size(end - begin), std::numeric_limits<double>::quiet_NaN());
      for (const auto& axes : all)
        for (std::size_t i = 0; i < axes[a].places.size(); ++i) {
          double& known = ends[size(axes[a].first - begin) + i];
          if (std::isnan(known)) known = axes[a].places[i];
        }
      const double width = (ends.back() - ends.front()) / static_cast<double>(ends.size());
      for (const auto& axes : all)
        for (std::size_t i = 0; i < axes[a].places.size(); ++i)
          if (std::fabs(ends[size(axes[a].first - begin) + i] - axes[a].places[i]) >
              kSamePlace * width)
            throw Error(
                "points with the same place in the extent have different coordinates on "
                "different ranks: all data sets must be pieces of one grid");
      cells.isFlat[a] = ends.size() == 1;
      if (cells.isFlat[a]) ends.push_back(ends.front() + 1);
      for (std::size_t i = 1; i < ends.size(); ++i)
        if (!(ends[i] > ends[i - 1]))
          throw Error(
              "the pieces of the ranks leave out some of the grid, or their coordinates do "
              "not increase");
      if (!cells.dataSet) continue;
      const auto points = static_cast<Index>(mine[a].places.size());
      cells.piece.lo[a] = mine[a].first - begin;
      cells.piece.hi[a] = cells.piece.lo[a] + (cells.isFlat[a] ? 1 : points - 1);
      if (cells.piece.along(a) == 0) throw Error("a piece of the grid has no cells along an axis");
    }
    if (!cells.dataSet) return;
    cells.box = ownBox(cells.piece, cells.dataSet);
    cells.hidden = hiddenCells(cells);
  });
  return cells;
}

std::vector<double> cellValues(const GridCells& cells, vtkDataArray* array, bool atCells,
                               int component) {
  std::vector<double> values;
  if (!cells.dataSet) return values;
  values.reserve(cells.count());
  const CellPoints points(cells);
  const std::vector<Index> offsets = points.offsets();
  forEachCell(cells.box, cells.piece, [&](Index cell) {
    values.push_back(atCells ? array->GetComponent(cell, component)
                             : meanOf(array, points.first(cell), offsets, component));
  });
  return values;
}

CellFlow cellFlow(const GridCells& cells, vtkDataArray* vectors, bool atCells) {
  CellFlow flow;
  if (!cells.dataSet) return flow;
  flow.solid = cells.hidden;
  const CellPoints points(cells);
  for (int a = 0; a < 3; ++a) {
    const auto axis = size(a);
    for (int end = 0; end < 2; ++end) {
      std::vector<double>& values = (end == 0 ? flow.low : flow.high)[axis];
      values.reserve(cells.count());
      if (cells.isFlat[axis]) {
        values.assign(cells.count(), 0.0);
        continue;
      }
      const std::vector<Index> offsets = points.offsets(a, end);
      forEachCell(cells.box, cells.piece, [&](Index cell) {
        const bool solid = flow.solid[values.size()] != 0;
        const double velocity = solid     ? 0
                                : atCells ? vectors->GetComponent(cell, a)
                                          : meanOf(vectors, points.first(cell), offsets, a);
        if (!std::isfinite(velocity))
          throw Error("the velocity at cell " + std::to_string(cell) +
                      " of a data set is not finite");
        values.push_back(velocity);
      });
    }
  }
  return flow;
}

std::vector<std::size_t> cellsWithPoints(Transport& transport, const GridCells& cells,
                                         const std::vector<double>& points) {
  const std::vector<double> all = allgatherv(transport, points);
  std::vector<std::size_t> found;
  for (std::size_t p = 0; p + 2 < all.size(); p += 3) {
    Index at[3];
    bool isHere = !cells.box.empty();
    for (std::size_t a = 0; a < 3 && isHere; ++a) {
      const auto& ends = cells.grid.ends[a];
      const double x = all[p + a];
      at[a] = 0;
      if (cells.isFlat[a]) continue;
      isHere = x >= ends.front() && x <= ends.back();
      if (!isHere) break;
      const auto above = std::upper_bound(ends.begin(), ends.end() - 1, x) - ends.begin();
      at[a] = static_cast<Index>(above) - 1;
      isHere = at[a] >= cells.box.lo[a] && at[a] < cells.box.hi[a];
    }
    if (isHere)
      found.push_back(
          size(((at[2] - cells.box.lo[2]) * cells.box.along(1) + at[1] - cells.box.lo[1]) *
                   cells.box.along(0) +
               at[0] - cells.box.lo[0]));
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<double> withGhosts(Transport& transport, const GridCells& cells,
                               Span<const double> own) {
  struct Ranges {
    CellRange box, piece;
  };
  const std::vector<Ranges> all = allgather(transport, Ranges{cells.box, cells.piece});
  const auto mine = size(transport.rank());
  std::vector<Bytes> toEachRank;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    std::vector<double> values;
    if (rank != mine)
      forEachCell(overlapOf(cells.box, all[rank].piece), cells.box,
                  [&](Index cell) { values.push_back(own[size(cell)]); });
    toEachRank.push_back(values.empty() ? Bytes() : Writer().range(values).take());
  }
  const std::vector<Bytes> received = exchangeBytes(transport, std::move(toEachRank));
  std::vector<double> result(size(cells.piece.cells()), 0.0);
  together(transport, [&] {
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      const CellRange both = overlapOf(all[rank].box, cells.piece);
      std::vector<double> values(own.begin(), own.end());
      if (rank != mine) {
        if (both.empty()) continue;
        Reader reader(received[rank]);
        values = reader.range<double>();
      }
      if (values.size() != size(both.cells()))
        throw Error("malformed message: " + std::to_string(values.size()) + " values of ghosts");
      std::size_t next = 0;
      forEachCell(both, cells.piece, [&](Index cell) { result[size(cell)] = values[next++]; });
    }
  });
  return result;
}

}  // namespace tributary
