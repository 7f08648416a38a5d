// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataArray.h>
#include <vtkSmartPointer.h>

#include <cstdint>
#include <vector>

#include "Tributary/Base/FixedSum.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Components/Regions.h"

// The values that select and measure the cells of a data set. All of this is local.

namespace tributary {

/// Which cells of a data set are in range.
struct RangeTest {
  vtkDataArray* scalars = nullptr;  ///< Of the data set; null: all cells are in range.
  bool atCells = false;             ///< Whether the scalars are of cells, or else of points.
  bool allPoints = false;           ///< Whether all points of a cell must be in range, or only one.
  double lo = 0, hi = 0;            ///< Both belong to the range.
};

/// A component of an array of a data set, by which regions are measured.
class MeasuredValues {
 public:
  MeasuredValues() = default;
  MeasuredValues(vtkDataArray* array, int component, bool atCells);

  bool atCells() const { return atCells_; }
  /// Of a cell or a point.
  double at(std::int64_t i) const {
    const std::int64_t place = i * stride_ + component_;
    return doubles_ ? doubles_[place] : static_cast<double>(floats_[place]);
  }

 private:
  vtkSmartPointer<vtkDataArray> array_;  // of floats or doubles
  const float* floats_ = nullptr;
  const double* doubles_ = nullptr;
  std::int64_t stride_ = 1;
  int component_ = 0;
  bool atCells_ = false;
};

/// Largest magnitudes, which decide the scales of sums.
struct Extremes {
  double measure = 0;
  double coordinate = 0;
  std::vector<double> values;  ///< Of each array.
};

/// Scales of sums over the whole domain, the same on all ranks.
struct FactScales {
  FixedScale measure;
  FixedScale moment;
  std::vector<FixedScale> integrals;
  bool hasMeasure = true;  ///< If no cell has a measure, each counts one in moments and integrals.
};

/// A bit per value, set if the value is in range; empty if there is no array to test.
std::vector<std::uint64_t> rangeBits(const RangeTest& test);

/// Adds the value of an array in a cell to the facts of a set.
/// @param count, points  of the cell
void addValues(const MeasuredValues& array, std::int64_t cell, std::int64_t count,
               const std::int64_t* points, double weight, const FixedScale& scale,
               ValueFacts& facts);

/// Raises `largest` to the largest magnitude of an array's finite values in a cell.
/// @param points  of the cell
void considerValues(const MeasuredValues& array, std::int64_t cell, Span<const std::int64_t> points,
                    double& largest);

}  // namespace tributary
