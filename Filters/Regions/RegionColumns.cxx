// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/RegionColumns.h"

#include <vtkDoubleArray.h>
#include <vtkUnsignedCharArray.h>

#include <array>
#include <cstddef>
#include <limits>

#include "Common/FreshArray.h"

#include "Tributary/Base/Index.h"

namespace tributary {
namespace {

/// Calls `visit(i)` for the rows of the table that are selected.
template <class Visit>
void visitSelected(const RegionTable& table, const RegionSelection& selection, Visit&& visit) {
  for (std::size_t i = 0; i < table.regions.size(); ++i)
    if (selection.has(table.first + static_cast<std::int64_t>(i), table.regions[i].cells)) visit(i);
}

}  // namespace

RegionColumns::RegionColumns(const RangeRegions& regions, const RegionSelection& selection,
                             const std::vector<std::string>& measured) {
  const RegionTable& table = regions.numbered.table;
  const FactScales& scales = regions.scales;
  vtkIdType rows = 0;
  visitSelected(table, selection, [&](std::size_t) { ++rows; });
  const auto integers = [&](const char* name) {
    auto array = freshArray<vtkIdTypeArray>(name, 1, rows);
    arrays_.push_back(array);
    return array;
  };
  const auto doubles = [&](const std::string& name, int components) {
    auto array = freshArray<vtkDoubleArray>(name.c_str(), components, rows);
    arrays_.push_back(array);
    return array->GetPointer(0);
  };
  id_ = integers("RegionId");
  vtkIdType* const cells = integers("Cells")->GetPointer(0);
  points_ = integers("Points");
  double* const measures = doubles("Measure", 1);
  double* const centroids = doubles("Centroid", 3);
  double* const lowest = doubles("BoundsMin", 3);
  double* const highest = doubles("BoundsMax", 3);
  unsigned char* wraps = nullptr;
  if (regions.wrapped.isPeriodic()) {
    auto array = freshArray<vtkUnsignedCharArray>("Wraps", 3, rows);
    arrays_.push_back(array);
    wraps = array->GetPointer(0);
  }
  struct ValueColumns {
    double *least, *most, *mean, *integral;
  };
  std::vector<ValueColumns> ofValues;
  for (const std::string& name : measured)
    ofValues.push_back({doubles(name + " Minimum", 1), doubles(name + " Maximum", 1),
                        doubles(name + " Mean", 1), doubles(name + " Integral", 1)});

  std::size_t row = 0;
  visitSelected(table, selection, [&](std::size_t i) {
    const RegionFacts& facts = table.regions[i];
    id_->SetValue(static_cast<vtkIdType>(row), table.first + static_cast<std::int64_t>(i));
    cells[row] = facts.cells;
    const double weight = weightOf(facts, scales);
    measures[row] = measureOf(facts, scales);
    const RegionPlace place =
        regions.wrapped.placeOf(table.first + static_cast<std::int64_t>(i), facts, scales);
    for (std::size_t a = 0; a < 3; ++a) {
      centroids[3 * row + a] = place.centroid[a];
      lowest[3 * row + a] = place.lo[a] + 0.0;  // -0 is 0
      highest[3 * row + a] = place.hi[a] + 0.0;
      if (wraps) wraps[3 * row + a] = place.wraps[a] ? 1 : 0;
    }
    constexpr double NaN = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t v = 0; v < ofValues.size(); ++v) {
      const ValueFacts& values = table.values[i * ofValues.size() + v];
      const bool good = values.notFinite == 0;
      const double integral = scales.integrals[v].value(values.integral);
      ofValues[v].least[row] = good ? values.least : NaN;
      ofValues[v].most[row] = good ? values.most : NaN;
      ofValues[v].mean[row] = good && weight > 0 ? integral / weight : NaN;
      ofValues[v].integral[row] = good ? integral : NaN;
    }
    ++row;
  });
}

void RegionColumns::setPoints(std::int64_t first, Span<const std::int64_t> points) {
  for (vtkIdType row = 0; row < rows(); ++row)
    points_->SetValue(row, points[index(id_->GetValue(row) - first)]);
}

}  // namespace tributary
