// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/Pieces/CellValues.h"

#include <algorithm>
#include <cmath>

#include "Common/CellLists.h"
#include "Common/SmpFor.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Components/LatticeMask.h"

namespace tributary {

MeasuredValues::MeasuredValues(vtkDataArray* array, int component, bool atCells)
    : array_(contiguous(array)),
      stride_(array->GetNumberOfComponents()),
      component_(component),
      atCells_(atCells) {
  if (array_->GetDataType() == VTK_DOUBLE)
    doubles_ = static_cast<const double*>(array_->GetVoidPointer(0));
  else
    floats_ = static_cast<const float*>(array_->GetVoidPointer(0));
}

void addValues(const MeasuredValues& array, std::int64_t cell, std::int64_t count,
               const std::int64_t* points, double weight, const FixedScale& scale,
               ValueFacts& facts) {
  const auto consider = [&](double value) {
    facts.least = std::min(facts.least, value);
    facts.most = std::max(facts.most, value);
  };
  double mean = 0;
  if (array.atCells()) {
    mean = array.at(cell);
    if (std::isfinite(mean)) consider(mean);
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      const double value = array.at(points[i]);
      mean += value;
      if (std::isfinite(value)) consider(value);
    }
    mean /= static_cast<double>(count);
  }
  const double product = weight * mean;
  if (std::isfinite(product))
    facts.integral += scale.fixed(product);
  else
    ++facts.notFinite;
}

void considerValues(const MeasuredValues& array, std::int64_t cell, Span<const std::int64_t> points,
                    double& largest) {
  const auto consider = [&](double value) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  };
  if (array.atCells()) {
    consider(array.at(cell));
  } else {
    for (const std::int64_t point : points) consider(array.at(point));
  }
}

std::vector<std::uint64_t> rangeBits(const RangeTest& test) {
  if (!test.scalars) return {};
  const vtkSmartPointer<vtkDataArray> array = plain(test.scalars);
  // As rows of a word each, and a shorter one.
  const std::int64_t count = array->GetNumberOfTuples();
  const std::int64_t rows = count / 64;
  std::vector<std::uint64_t> mask(static_cast<std::size_t>(rows + 1));
  switch (array->GetDataType()) {
    vtkTemplateMacro({
      const auto* values = static_cast<const VTK_TT*>(array->GetVoidPointer(0));
      rangeMask(values, 64, rows, test.lo, test.hi, mask.data(), smpFor);
      if (count % 64 != 0)
        rangeMask(values + 64 * rows, count % 64, 1, test.lo, test.hi,
                  &mask[static_cast<std::size_t>(rows)], smpFor);
    });
    default:
      throw Error("the scalars are of a type that has no order; choose an array of numbers");
  }
  return mask;
}

}  // namespace tributary
