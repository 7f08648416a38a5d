// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataSet.h>

#include <functional>
#include <string>
#include <vector>

class vtkCellData;
class vtkDataArray;
class vtkDataObject;
class vtkHyperTreeGrid;
class vtkUnsignedCharArray;

namespace tributary {

/// A data set within a composite one, or a hyper tree grid.
struct Leaf {
  vtkDataSet* dataSet = nullptr;  ///< Null for a hyper tree grid.
  /// Path of the composite node whose leaves may be pieces of one grid: the parent where the parent
  /// is a data set in pieces, otherwise the leaf itself. Empty for an input that is not composite.
  std::string group;
  /// For a data set of an AMR hierarchy: the hierarchy's path and the data set's level in it.
  std::string hierarchy;
  int level = -1;  ///< -1 outside any hierarchy.
  vtkHyperTreeGrid* trees = nullptr;

  vtkDataObject* object() const;
  vtkCellData* cellData() const;
  /// Cells that cell data have values for: of a hyper tree grid all cells of its trees, also those
  /// that are divided.
  vtkIdType cells() const;
  /// Points that point data have values for; none of a hyper tree grid.
  vtkIdType points() const;
};

/// Whether an array has a value for each cell. (Of hyper tree grids it may have more.)
bool hasValuePerCell(vtkDataArray* array, const Leaf& leaf);

/// The data sets with at least one point in `input`, a data set or any composite of them, in the
/// order of the composite's own indices; none if `input` is null.
std::vector<Leaf> leavesOf(vtkDataObject* input);

/// The same with the hyper tree grids that have cells.
std::vector<Leaf> leavesAndTreesOf(vtkDataObject* input);

/// Calls `visit` for every data set and hyper tree grid in `object`, also for empty ones.
void forEachDataSet(vtkDataObject* object, const std::function<void(vtkDataObject*)>& visit);

/// The extent of a structured data set. @return false if it is not one; `extent` is left alone then
bool extentOf(vtkDataSet* dataSet, int extent[6]);

/// Highest dimension of the data set's cells, -1 if it has none.
int dimensionOf(vtkDataSet* dataSet);

/// Whether a data set is a grid along the axes with coordinates that increase.
bool isAlongAxes(vtkDataSet* dataSet);

/// The data set's ghost flags of points, or null. Throws Error if they are not one for each point.
vtkUnsignedCharArray* pointGhosts(vtkDataSet* dataSet);

}  // namespace tributary
