// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

class vtkDataArray;
class vtkDataSet;

namespace tributary {

/// Coordinates as float or double.
class Coordinates {
 public:
  Coordinates() = default;
  /// @param array  contiguous floats or doubles, 3 components; outlives this
  explicit Coordinates(vtkDataArray* array);
  std::array<double, 3> operator[](std::int64_t point) const {
    if (doubles_) return {doubles_[3 * point], doubles_[3 * point + 1], doubles_[3 * point + 2]};
    return {floats_[3 * point], floats_[3 * point + 1], floats_[3 * point + 2]};
  }
  const float* floats() const { return floats_; }
  const double* doubles() const { return doubles_; }

 private:
  const float* floats_ = nullptr;
  const double* doubles_ = nullptr;
};

/// Length, area or volume of a cell, whichever its dimension has, and the point where it balances;
/// the mean of its points if it has none.
struct CellSize {
  double measure = 0;
  std::array<double, 3> centroid{};
};

/// Whether a cell's points are enough to measure it.
bool isMeasuredByPoints(int type);

/// How many points a cell of a type has at least; 0 if it is not told.
int leastPointsOf(int type);

/// Linear cells by their own points; others as VTK divides them into simplices. Faces that are not
/// plane count as fans around the mean of their points, so that cells fill what is between them.
/// @param dataSet, cell  used for cells that are not linear; one thread at a time
CellSize sizeOfCell(int type, std::int64_t count, const std::int64_t* ids,
                    const Coordinates& coordinates, vtkDataSet* dataSet, std::int64_t cell);

}  // namespace tributary
