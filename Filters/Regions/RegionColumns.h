// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataArray.h>
#include <vtkIdTypeArray.h>
#include <vtkSmartPointer.h>

#include <cstdint>
#include <string>
#include <vector>

#include "Regions/RangeRegions.h"
#include "Regions/RegionSelection.h"

#include "Tributary/Base/Span.h"
#include "Tributary/Components/Regions.h"

namespace tributary {

/// The columns of the output table for the selected regions of one range, a row each, in the order
/// of their numbers. Local.
class RegionColumns {
 public:
  RegionColumns() = default;
  /// Numbers of points are missing until setPoints(). Throws std::bad_alloc.
  /// @param measured  names of the values that regions were measured by
  RegionColumns(const RangeRegions& regions, const RegionSelection& selection,
                const std::vector<std::string>& measured);

  /// @param first   number of the first region of the table
  /// @param points  of each region of the table
  void setPoints(std::int64_t first, Span<const std::int64_t> points);

  vtkIdType rows() const { return arrays_.empty() ? 0 : arrays_.front()->GetNumberOfTuples(); }
  const std::vector<vtkSmartPointer<vtkDataArray>>& arrays() const { return arrays_; }

 private:
  vtkSmartPointer<vtkIdTypeArray> id_, points_;
  std::vector<vtkSmartPointer<vtkDataArray>> arrays_;
};

}  // namespace tributary
