// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkType.h>

#include <vector>

#include "Common/CellLists.h"

class vtkDataSet;

namespace tributary {

/// The latitudes y of the points or cells of a data set, in degrees; of a cell, the middle of those
/// of its points. They depend on the point or cell alone, not on the data set that it is in.
class Latitudes {
 public:
  /// Local. The data set must outlive the object.
  /// @throws Error if a point of the data set lies beyond the poles
  Latitudes(vtkDataSet* dataSet, bool ofCells);

  /// Consecutive points or cells with the same latitude.
  struct Run {
    double latitude;
    vtkIdType end;  ///< One past the last one, or before that.
  };
  /// Thread-safe. The latitude of a point or cell, and of those that follow it.
  [[nodiscard]] Run from(vtkIdType at) const;

  /// The factor of a velocity along a parallel of a sphere of radius 1, for radians per time: 0 at
  /// the poles, where longitudes are not defined, otherwise 1 / cos(latitude).
  [[nodiscard]] static double eastwardFactor(double latitude);

 private:
  // Of a grid along the axes: by row. Of the cells of other data sets: by cell. Otherwise empty.
  std::vector<double> rows_;
  vtkIdType alongX_ = 1;  // the number of points or cells in a row
  PointCoordinates points_;
};

}  // namespace tributary
