// SPDX-License-Identifier: BSD-3-Clause
#include "Velocity/ReversedGrid.h"

#include <vtkAbstractArray.h>
#include <vtkCellData.h>
#include <vtkDataSetAttributes.h>
#include <vtkDoubleArray.h>
#include <vtkIdList.h>
#include <vtkImageData.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkRectilinearGrid.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "Common/FreshArray.h"
#include "Common/Leaves.h"

#include "Tributary/Base/Error.h"

namespace tributary {
namespace {

/// The numbers in the grid of the points or cells of the copy, in its order.
vtkSmartPointer<vtkIdList> orderOf(const std::array<std::int64_t, 3>& size,
                                   const std::array<bool, 3>& axes) {
  vtkNew<vtkIdList> order;
  order->SetNumberOfIds(static_cast<vtkIdType>(size[0] * size[1] * size[2]));
  const auto from = [&](std::int64_t i, std::size_t a) { return axes[a] ? size[a] - 1 - i : i; };
  vtkIdType at = 0;
  for (std::int64_t k = 0; k < size[2]; ++k)
    for (std::int64_t j = 0; j < size[1]; ++j)
      for (std::int64_t i = 0; i < size[0]; ++i)
        order->SetId(at++, static_cast<vtkIdType>((from(k, 2) * size[1] + from(j, 1)) * size[0] +
                                                  from(i, 0)));
  return order;
}

std::array<std::int64_t, 3> cellsOf(vtkDataSet* grid) {
  int extent[6];
  extentOf(grid, extent);
  auto size = pointsAlong(extent);
  for (std::int64_t& count : size) count = std::max<std::int64_t>(count - 1, 1);
  return size;
}

vtkSmartPointer<vtkAbstractArray> inOrder(vtkAbstractArray* array, vtkIdList* order) {
  requireMemory(static_cast<std::size_t>(array->GetActualMemorySize()) << 10);
  auto copy = vtkSmartPointer<vtkAbstractArray>::Take(array->NewInstance());
  copy->SetName(array->GetName());
  copy->SetNumberOfComponents(array->GetNumberOfComponents());
  copy->CopyComponentNames(array);
  copy->SetNumberOfTuples(order->GetNumberOfIds());
  array->GetTuples(order, copy);
  return copy;
}

/// Arrays of a wrong size stay as they are, for the checks of those who read them.
void copyInOrder(vtkDataSetAttributes* from, vtkIdList* order, vtkDataSetAttributes* to) {
  for (int n = 0; n < from->GetNumberOfArrays(); ++n) {
    vtkAbstractArray* const array = from->GetAbstractArray(n);
    const bool fits = array->GetNumberOfTuples() == order->GetNumberOfIds();
    const auto copy = fits ? inOrder(array, order) : vtkSmartPointer<vtkAbstractArray>(array);
    const int place = to->AddArray(copy);
    const int attribute = from->IsArrayAnAttribute(n);
    if (attribute >= 0) to->SetActiveAttribute(place, attribute);
  }
}

}  // namespace

vtkSmartPointer<vtkDataSet> reversedAlong(vtkDataSet* grid, const std::array<bool, 3>& axes) {
  int extent[6];
  extentOf(grid, extent);
  const auto points = pointsAlong(extent);
  for (int a = 0; a < 3; ++a) {
    if (!axes[static_cast<std::size_t>(a)]) continue;
    int &low = extent[2 * a], &high = extent[2 * a + 1];
    if (low == std::numeric_limits<int>::min())
      throw Error("the extent of the input begins at the smallest index; begin it at 0");
    std::swap(low, high);
    low = -low;
    high = -high;
  }
  vtkSmartPointer<vtkDataSet> reversed;
  if (auto* image = vtkImageData::SafeDownCast(grid)) {
    const auto copy = vtkSmartPointer<vtkImageData>::New();
    double spacing[3];
    image->GetSpacing(spacing);
    for (std::size_t a = 0; a < 3; ++a)
      if (axes[a]) spacing[a] = -spacing[a];
    copy->SetOrigin(image->GetOrigin());
    copy->SetSpacing(spacing);
    copy->SetExtent(extent);
    reversed = copy;
  } else {
    auto* const rectilinear = vtkRectilinearGrid::SafeDownCast(grid);
    const auto copy = vtkSmartPointer<vtkRectilinearGrid>::New();
    copy->SetExtent(extent);
    const auto along = [&](vtkDataArray* coordinates, std::size_t a) {
      std::array<std::int64_t, 3> size{1, 1, 1};
      size[a] = points[a];
      return inOrder(coordinates, orderOf(size, axes));
    };
    copy->SetXCoordinates(vtkDataArray::SafeDownCast(along(rectilinear->GetXCoordinates(), 0)));
    copy->SetYCoordinates(vtkDataArray::SafeDownCast(along(rectilinear->GetYCoordinates(), 1)));
    copy->SetZCoordinates(vtkDataArray::SafeDownCast(along(rectilinear->GetZCoordinates(), 2)));
    reversed = copy;
  }
  copyInOrder(grid->GetPointData(), orderOf(points, axes), reversed->GetPointData());
  copyInOrder(grid->GetCellData(), orderOf(cellsOf(grid), axes), reversed->GetCellData());
  return reversed;
}

vtkSmartPointer<vtkDataArray> reversedCells(vtkDataArray* array, vtkDataSet* grid,
                                            const std::array<bool, 3>& axes) {
  return vtkDataArray::SafeDownCast(inOrder(array, orderOf(cellsOf(grid), axes)));
}

}  // namespace tributary
