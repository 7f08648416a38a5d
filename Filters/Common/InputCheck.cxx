// SPDX-License-Identifier: BSD-3-Clause
#include "Common/InputCheck.h"

#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkCellType.h>
#include <vtkDataArray.h>
#include <vtkPolyData.h>
#include <vtkRectilinearGrid.h>
#include <vtkStructuredGrid.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnstructuredGrid.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "Common/CellSize.h"
#include "Common/Leaves.h"
#include "Common/SmpFor.h"
#include "Common/VTKVersions.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Base/NumberText.h"

namespace tributary {
namespace {

constexpr const char* Cure = "; repair it where the data set is read or made";

/// Throws Error for a malformed cell of any data set.
[[noreturn]] void refuseCell(vtkIdType cell, const std::string& what) {
  throw Error("cell " + std::to_string(cell) + " of the input " + what + Cure);
}

void checkPoint(vtkIdType cell, std::int64_t point, vtkIdType points) {
  if (point < 0 || point >= points)
    refuseCell(cell, "has point " + std::to_string(point) + " of a data set with " +
                         std::to_string(points) + " points");
}

/// Whether VTK has a class for cells of a type, without which it cannot evaluate them.
bool hasClass(int type) {
  return type <= VTK_HEXAGONAL_PRISM ||
         (type >= VTK_QUADRATIC_EDGE && type <= VTK_TRIQUADRATIC_PYRAMID) ||
         type == VTK_CONVEX_POINT_SET || type == VTK_POLYHEDRON ||
         (type >= VTK_LAGRANGE_CURVE && type <= VTK_BEZIER_WEDGE && type != VTK_LAGRANGE_PYRAMID);
}

/// Whether a Lagrange or Bezier cell of some order has this number of points.
bool hasOrder(int type, std::int64_t count) {
  // Quadratic cells with points in the middle of the faces and of the cell.
  if ((type == VTK_LAGRANGE_TRIANGLE && count == 7) ||
      (type == VTK_LAGRANGE_TETRAHEDRON && count == 15) ||
      (type == VTK_LAGRANGE_WEDGE && count == 21))
    return true;
  for (std::int64_t n = 2;; ++n) {  // points along an edge
    std::int64_t points = 0;
    switch (type) {
      case VTK_LAGRANGE_TRIANGLE:
      case VTK_BEZIER_TRIANGLE:
        points = n * (n + 1) / 2;
        break;
      case VTK_LAGRANGE_TETRAHEDRON:
      case VTK_BEZIER_TETRAHEDRON:
        points = n * (n + 1) * (n + 2) / 6;
        break;
      case VTK_LAGRANGE_QUADRILATERAL:
      case VTK_BEZIER_QUADRILATERAL:
        points = n * n;
        break;
      case VTK_LAGRANGE_HEXAHEDRON:
      case VTK_BEZIER_HEXAHEDRON:
        points = n * n * n;
        break;
      case VTK_LAGRANGE_WEDGE:
      case VTK_BEZIER_WEDGE:
        points = n * n * (n + 1) / 2;
        break;
      default:
        return true;
    }
    if (points == count) return true;
    if (points > count) return false;
  }
}

/// VTK aborts, or reports errors for each cell, where it cannot tell the order of a cell. An array
/// of degrees gives it for cells whose order differs between axes.
void checkOrders(vtkUnstructuredGrid* grid) {
  if (grid->GetCellData()->GetHigherOrderDegrees()) return;
  const unsigned char* types = grid->GetCellTypesArray()->GetPointer(0);
  const vtkIdType cells = grid->GetNumberOfCells();
  for (vtkIdType c = 0; c < cells; ++c) {
    if (types[c] < VTK_LAGRANGE_CURVE) continue;
    const vtkIdType count = grid->GetCells()->GetCellSize(c);
    if (!hasOrder(types[c], count))
      refuseCell(c, "is of type " + std::to_string(types[c]) + " and has " + std::to_string(count) +
                        " points, which no order of this type has");
  }
}

/// @param types  of the cells, or null if any number of points is valid
/// @param first  the number of the first cell in the data set
template <class Integer>
void checkCells(const Integer* offsets, const Integer* connectivity, vtkIdType size,
                vtkIdType cells, const unsigned char* types, vtkIdType points, vtkIdType first) {
  std::array<int, 256> least{};
  for (std::size_t type = 0; type < least.size(); ++type)
    least[type] = hasClass(int(type)) ? leastPointsOf(int(type)) : -1;
  smpFor(cells, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = begin; c < end; ++c) {
      const std::int64_t from = offsets[c], to = offsets[c + 1];
      if (from < 0 || to < from || to > size)
        refuseCell(first + c, "has malformed offsets in its cell array");
      if (!types) continue;
      if (least[types[c]] < 0)
        refuseCell(first + c,
                   "is of type " + std::to_string(types[c]) + ", for which VTK has no class");
      if (to - from < least[types[c]])
        refuseCell(first + c, "is of type " + std::to_string(types[c]) + " and has " +
                                  std::to_string(to - from) + " points");
    }
    const Span<const Integer> numbers(connectivity + offsets[begin],
                                      index(offsets[end] - offsets[begin]));
    if (areIndices(numbers, points)) return;
    for (std::int64_t c = begin; c < end; ++c)
      for (std::int64_t i = offsets[c]; i < offsets[c + 1]; ++i)
        checkPoint(first + c, connectivity[i], points);
  });
}

/// @return the number of the cells
vtkIdType checkCells(vtkCellArray* cells, const unsigned char* types, vtkIdType points,
                     vtkIdType first) {
  const vtkIdType count = cells ? cells->GetNumberOfCells() : 0;
  if (count < 1) return 0;
  const vtkIdType size = cells->GetConnectivityArray()->GetNumberOfValues();
  if (cells->IsStorage64Bit())
    checkCells(cells->GetOffsetsArray64()->GetPointer(0),
               cells->GetConnectivityArray64()->GetPointer(0), size, count, types, points, first);
  else
    checkCells(cells->GetOffsetsArray32()->GetPointer(0),
               cells->GetConnectivityArray32()->GetPointer(0), size, count, types, points, first);
  return count;
}

void checkGrid(vtkUnstructuredGrid* grid) {
  const vtkIdType count = grid->GetNumberOfCells();
  if (count < 1) return;
  vtkUnsignedCharArray* types = grid->GetCellTypesArray();
  if (!types || types->GetNumberOfValues() != count)
    throw Error("the input has " + std::to_string(types ? types->GetNumberOfValues() : 0) +
                " cell types for " + std::to_string(count) + " cells" + Cure);
  const unsigned char* typeOf = types->GetPointer(0);
  checkCells(grid->GetCells(), typeOf, grid->GetNumberOfPoints(), 0);
  checkOrders(grid);
  if (std::find(typeOf, typeOf + count, VTK_POLYHEDRON) == typeOf + count) return;
  for (vtkIdType c = 0; c < count; ++c) {
    if (typeOf[c] != VTK_POLYHEDRON) continue;
    forEachFacePoint(
        grid, c, [&](vtkIdType point) { checkPoint(c, point, grid->GetNumberOfPoints()); },
        [&](const std::string& what) { refuseCell(c, "is a polyhedron with " + what); });
  }
}

void checkPoly(vtkPolyData* poly) {
  vtkIdType first = 0;
  for (vtkCellArray* cells :
       {poly->GetVerts(), poly->GetLines(), poly->GetPolys(), poly->GetStrips()})
    first += checkCells(cells, nullptr, poly->GetNumberOfPoints(), first);
}

/// The number of points along each axis must be that of the extent.
void checkAxes(vtkRectilinearGrid* grid, const int extent[6]) {
  if (grid->GetNumberOfPoints() < 1) return;
  vtkDataArray* axes[] = {grid->GetXCoordinates(), grid->GetYCoordinates(),
                          grid->GetZCoordinates()};
  for (int a = 0; a < 3; ++a) {
    const vtkIdType wanted = vtkIdType(extent[2 * a + 1]) - extent[2 * a] + 1;
    const vtkIdType count = axes[a] ? axes[a]->GetNumberOfTuples() : 0;
    if (count != wanted)
      throw Error("a rectilinear grid of the input has " + std::to_string(count) +
                  " coordinates along axis " + std::to_string(a) + " for an extent of " +
                  std::to_string(wanted) + " points" + Cure);
  }
}

void checkPoints(vtkStructuredGrid* grid, const int extent[6]) {
  double wanted = 1;  // the product may exceed integers
  for (int a = 0; a < 3; ++a)
    wanted *= std::max(double(extent[2 * a + 1]) - extent[2 * a] + 1, 0.0);
  if (double(grid->GetNumberOfPoints()) != wanted)
    throw Error("a structured grid of the input has " + std::to_string(grid->GetNumberOfPoints()) +
                " points for an extent of " + numberText(wanted) + " points" + Cure);
}

void checkDataSet(vtkDataObject* dataSet) {
  if (auto* grid = vtkUnstructuredGrid::SafeDownCast(dataSet))
    checkGrid(grid);
  else if (auto* poly = vtkPolyData::SafeDownCast(dataSet))
    checkPoly(poly);
  else if (auto* rectilinear = vtkRectilinearGrid::SafeDownCast(dataSet))
    checkAxes(rectilinear, rectilinear->GetExtent());
  else if (auto* curvilinear = vtkStructuredGrid::SafeDownCast(dataSet))
    checkPoints(curvilinear, curvilinear->GetExtent());
}

}  // namespace

void checkStructure(vtkDataObject* input) {
  if (input) forEachDataSet(input, checkDataSet);
}

}  // namespace tributary
