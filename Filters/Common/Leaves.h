// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataSet.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

class vtkCellData;
class vtkDataArray;
class vtkDataObject;
class vtkHyperTreeGrid;
class vtkUnsignedCharArray;

namespace tributary {

/// A data set or hyper tree grid of an input, which may be a composite. Does not own it.
struct Leaf {
  vtkDataSet* dataSet = nullptr;  ///< Null for a hyper tree grid.
  /// The path of the composite node whose leaves may be pieces of one grid: the parent if it is a
  /// partitioned data set, otherwise the leaf. Empty for an input that is not composite.
  std::string group;
  /// For a data set of an AMR hierarchy: the path of the hierarchy, and the level in it.
  std::string hierarchy;
  int level = -1;                     ///< -1 outside any hierarchy.
  vtkHyperTreeGrid* trees = nullptr;  ///< Null for a data set.

  /// The data set or hyper tree grid.
  vtkDataObject* object() const;
  vtkCellData* cellData() const;
  /// The number of tuples of cell data. A hyper tree grid has a tuple for each cell of its trees,
  /// including refined cells.
  vtkIdType cells() const;
  /// The number of tuples of point data; 0 for a hyper tree grid.
  vtkIdType points() const;
};

/// Whether an array has a tuple for each cell. Arrays of hyper tree grids may have more tuples.
[[nodiscard]] bool hasValuePerCell(vtkDataArray* array, const Leaf& leaf);

/// Local. The data sets with at least one point in a data set or composite, in the order of the
/// composite; none if `input` is null.
[[nodiscard]] std::vector<Leaf> leavesOf(vtkDataObject* input);

/// Local. As leavesOf(), with the hyper tree grids that have cells.
[[nodiscard]] std::vector<Leaf> leavesAndTreesOf(vtkDataObject* input);

/// Local. Calls visit(object) for each data set and hyper tree grid, including empty ones.
void forEachDataSet(vtkDataObject* object, const std::function<void(vtkDataObject*)>& visit);

/// Gets the extent of a structured data set.
/// @return false if the data set is not structured; `extent` is then unchanged
bool extentOf(vtkDataSet* dataSet, int extent[6]);

/// The number of points along each axis of an extent.
[[nodiscard]] std::array<std::int64_t, 3> pointsAlong(const int extent[6]);

/// The maximum dimension of the cells of a data set; -1 if it has none.
[[nodiscard]] int dimensionOf(vtkDataSet* dataSet);

/// Whether a data set is a uniform or rectilinear grid with increasing coordinates along the axes.
[[nodiscard]] bool isAlongAxes(vtkDataSet* dataSet);

/// The ghost flags of points or cells, or null. Throw Error if their number is not that of the
/// points or cells.
[[nodiscard]] vtkUnsignedCharArray* pointGhosts(vtkDataSet* dataSet);
[[nodiscard]] vtkUnsignedCharArray* cellGhosts(vtkDataSet* dataSet);

}  // namespace tributary
