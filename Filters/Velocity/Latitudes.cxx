// SPDX-License-Identifier: BSD-3-Clause
#include "Velocity/Latitudes.h"

#include <vtkDataArray.h>
#include <vtkDataSet.h>
#include <vtkImageData.h>
#include <vtkRectilinearGrid.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "Common/Leaves.h"
#include "Common/SmpFor.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Base/NumberText.h"

namespace tributary {
namespace {

constexpr double RadiansPerDegree = 3.14159265358979323846 / 180;
/// Below this cosine a latitude is that of a pole: within 0.00006 degrees, or 6.4 m on the Earth.
constexpr double CosineOfPole = 1e-6;
/// In degrees: latitudes that rounding moves past a pole.
constexpr double Highest = 90.00005;

/// The latitudes of the rows of points of a grid along the axes.
std::vector<double> rowsOf(vtkDataSet* dataSet, const int extent[6]) {
  std::vector<double> rows;
  auto* image = vtkImageData::SafeDownCast(dataSet);
  auto* grid = vtkRectilinearGrid::SafeDownCast(dataSet);
  for (int j = extent[2]; j <= extent[3]; ++j)
    rows.push_back(image ? image->GetOrigin()[1] + j * image->GetSpacing()[1]
                         : grid->GetYCoordinates()->GetComponent(j - extent[2], 0));
  return rows;
}

/// The latitudes of the cells of any data set.
std::vector<double> cellsOf(vtkDataSet* dataSet) {
  constexpr double Infinity = std::numeric_limits<double>::infinity();
  const CellLists lists = cellListsOf(dataSet);
  const PointCoordinates points(dataSet);
  std::vector<double> latitudes(lists.types.size());
  smpFor(static_cast<std::int64_t>(latitudes.size()), [&](std::int64_t begin, std::int64_t end) {
    for (std::size_t cell = index(begin); cell < index(end); ++cell) {
      double low = Infinity, high = -Infinity;
      for (std::int64_t i = lists.offsets[cell]; i < lists.offsets[cell + 1]; ++i) {
        const double y = points[lists.connectivity[index(i)]][1];
        low = std::min(low, y);
        high = std::max(high, y);
      }
      latitudes[cell] = (low + high) / 2;
    }
  });
  return latitudes;
}

}  // namespace

Latitudes::Latitudes(vtkDataSet* dataSet, bool ofCells) {
  if (dataSet->GetNumberOfPoints() == 0) return;
  double bounds[6];
  dataSet->GetBounds(bounds);
  for (const double latitude : {bounds[2], bounds[3]})
    if (std::fabs(latitude) > Highest)
      throw Error("Coordinates is Longitude Latitude, but the latitude y of a point is " +
                  numberText(latitude) +
                  "; choose Cartesian, or an input whose y are degrees in [-90, 90]");
  int extent[6];
  if (isAlongAxes(dataSet) && extentOf(dataSet, extent)) {
    rows_ = rowsOf(dataSet, extent);
    alongX_ = static_cast<vtkIdType>(extent[1]) - extent[0] + 1;
    if (!ofCells) return;
    alongX_ = std::max<vtkIdType>(alongX_ - 1, 1);
    for (std::size_t j = 0; j + 1 < rows_.size(); ++j) rows_[j] = (rows_[j] + rows_[j + 1]) / 2;
    if (rows_.size() > 1) rows_.pop_back();
  } else if (ofCells) {
    rows_ = cellsOf(dataSet);
  } else {
    points_ = PointCoordinates(dataSet);
  }
}

Latitudes::Run Latitudes::from(vtkIdType at) const {
  if (!rows_.empty()) {
    const vtkIdType row = at / alongX_;
    const auto rows = static_cast<vtkIdType>(rows_.size());
    return {rows_[static_cast<std::size_t>(row % rows)], (row + 1) * alongX_};
  }
  return {points_[at][1], at + 1};
}

double Latitudes::eastwardFactor(double latitude) {
  const double cosine = std::cos(latitude * RadiansPerDegree);
  return cosine >= CosineOfPole ? 1 / cosine : 0;  // also 0 if the latitude is not a number
}

}  // namespace tributary
