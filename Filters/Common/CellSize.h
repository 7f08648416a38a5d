// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Index.h"

class vtkDataArray;
class vtkDataSet;

namespace tributary {

/// A view of point coordinates of type float or double.
class Coordinates {
 public:
  Coordinates() = default;
  /// @param array  contiguous floats or doubles with 3 components; must outlive the view
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

/// The length, area or volume of a cell, depending on its dimension, and its centroid. A cell
/// without a measure has the mean of its points as the centroid.
struct CellSize {
  double measure = 0;
  std::array<double, 3> centroid{};
};

/// The sizes of those cells of a data set that were set. The memory of the others is not written.
class CellSizes {
 public:
  CellSizes() = default;
  /// @param cells  of the data set
  explicit CellSizes(std::int64_t cells) : sizes_(index(cells)) {}
  bool empty() const { return sizes_.empty(); }
  /// Threads can set different cells.
  void set(std::int64_t cell, const CellSize& size) {
    sizes_[index(cell)] = {size.measure, size.centroid[0], size.centroid[1], size.centroid[2]};
  }
  /// @pre the size of the cell was set
  CellSize operator[](std::int64_t cell) const {
    const auto& [measure, x, y, z] = sizes_[index(cell)];
    return {measure, {x, y, z}};
  }

 private:
  using Numbers = std::array<double, 4>;
  std::vector<Numbers, UninitializedAllocator<Numbers>> sizes_;
};

/// VTK multiplies several lengths where it evaluates a cell. With cells whose diagonal is longer,
/// such products overflow, and VTK may fail an assertion or address memory by numbers that are not
/// finite.
constexpr double LongestDiagonal = 1e60;

/// Whether VTK can evaluate cells at a place: products of larger coordinates overflow, too.
[[nodiscard]] inline bool isEvaluable(const double place[3]) {
  return std::fabs(place[0]) <= LongestDiagonal && std::fabs(place[1]) <= LongestDiagonal &&
         std::fabs(place[2]) <= LongestDiagonal;
}

/// Whether the size of a cell type depends only on the points of the cell.
[[nodiscard]] bool isMeasuredByPoints(int type);

/// The minimum number of points of a cell type; 0 for types with any number of points, and for
/// those whose number of points gives their order.
[[nodiscard]] int leastPointsOf(int type);

/// Local. The size of a cell: of a linear cell by its points, of another cell by VTK's
/// decomposition into simplices. Faces that are not plane are fans around the mean of their points,
/// so neighbors neither overlap nor leave gaps.
/// @param type, count, ids  the VTK cell type and the points of the cell
/// @param dataSet, cell  used for nonlinear cells and polyhedra; not thread-safe for nonlinear
/// cells
[[nodiscard]] CellSize sizeOfCell(int type, std::int64_t count, const std::int64_t* ids,
                                  const Coordinates& coordinates, vtkDataSet* dataSet,
                                  std::int64_t cell);

}  // namespace tributary
