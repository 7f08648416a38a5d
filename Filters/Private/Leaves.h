#pragma once

#include <vtkDataSet.h>

#include <functional>
#include <string>
#include <vector>

class vtkDataObject;
class vtkUnsignedCharArray;

namespace tributary {

/// A data set within a composite one.
struct Leaf {
  vtkDataSet* dataSet = nullptr;
  /// Path of the composite node whose leaves may be pieces of one grid: the parent where the parent
  /// is a data set in pieces, otherwise the leaf itself. Empty for an input that is not composite.
  std::string group;
  /// For a data set of an AMR hierarchy: the hierarchy's path and the data set's level in it.
  std::string hierarchy;
  int level = -1;  ///< -1 outside any hierarchy.
};

/// The data sets with at least one point in `input`, a data set or any composite of them, in the
/// order of the composite's own indices; none if `input` is null.
std::vector<Leaf> leavesOf(vtkDataObject* input);

/// Calls `visit` for every data set in `object`, also for those without points.
void forEachDataSet(vtkDataObject* object, const std::function<void(vtkDataSet*)>& visit);

/// The extent of a structured data set. @return false if it is not one; `extent` is left alone then
bool extentOf(vtkDataSet* dataSet, int extent[6]);

/// Highest dimension of the data set's cells, -1 if it has none.
int dimensionOf(vtkDataSet* dataSet);

/// Whether a data set is a grid along the axes with coordinates that increase; others are meshes.
bool isLattice(vtkDataSet* dataSet);

/// The data set's ghost flags of points, or null. Throws Error if they are not one for each point.
vtkUnsignedCharArray* pointGhosts(vtkDataSet* dataSet);

}  // namespace tributary
