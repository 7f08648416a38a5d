// SPDX-License-Identifier: BSD-3-Clause
#include "Common/CellSize.h"

#include <vtkCellType.h>
#include <vtkDataArray.h>
#include <vtkDataSet.h>
#include <vtkDoubleArray.h>
#include <vtkFloatArray.h>
#include <vtkGenericCell.h>
#include <vtkHexagonalPrism.h>
#include <vtkHexahedron.h>
#include <vtkIdList.h>
#include <vtkNew.h>
#include <vtkPentagonalPrism.h>
#include <vtkPoints.h>
#include <vtkPyramid.h>
#include <vtkUnstructuredGrid.h>
#include <vtkWedge.h>

#include <cmath>

#include "Common/VTKVersions.h"

#include "Tributary/Base/Index.h"

namespace tributary {
namespace {

using Point = std::array<double, 3>;

Point minus(const Point& a, const Point& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
double dot(const Point& a, const Point& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// The sum of the measures and moments of simplices.
class Sum {
 public:
  void line(const Point& a, const Point& b) {
    const Point d = minus(b, a);
    add(std::sqrt(dot(d, d)), {a[0] + b[0], a[1] + b[1], a[2] + b[2]}, 2);
  }
  void triangle(const Point& a, const Point& b, const Point& c) {
    const Point n = cross(minus(b, a), minus(c, a));
    add(0.5 * std::sqrt(dot(n, n)), {a[0] + b[0] + c[0], a[1] + b[1] + c[1], a[2] + b[2] + c[2]},
        3);
  }
  /// Counts negatively if its orientation is opposite to the normal.
  void triangle(const Point& a, const Point& b, const Point& c, const Point& normal) {
    const Point n = cross(minus(b, a), minus(c, a));
    add(0.5 * dot(n, normal), {a[0] + b[0] + c[0], a[1] + b[1] + c[1], a[2] + b[2] + c[2]}, 3);
  }
  void tetrahedron(const Point& a, const Point& b, const Point& c, const Point& d) {
    const double six = dot(cross(minus(b, a), minus(c, a)), minus(d, a));
    add(std::abs(six) / 6,
        {a[0] + b[0] + c[0] + d[0], a[1] + b[1] + c[1] + d[1], a[2] + b[2] + c[2] + d[2]}, 4);
  }
  CellSize size(const Point& mean) const {
    if (!(measure_ > 0)) return {0, mean};
    return {measure_, {moment_[0] / measure_, moment_[1] / measure_, moment_[2] / measure_}};
  }

 private:
  void add(double measure, const Point& points, int count) {
    measure_ += measure;
    for (std::size_t a = 0; a < 3; ++a) moment_[a] += measure * (points[a] / count);
  }

  double measure_ = 0;
  Point moment_{};
};

/// Adds the tetrahedra from `mean` to fans on the faces. VTK's tables end a shorter face with -1.
template <class Cell>
void addFaces(Sum& sum, const Point* points, int faces, const Point& mean) {
  for (int f = 0; f < faces; ++f) {
    const vtkIdType* corners = Cell::GetFaceArray(f);
    int count = 0;
    Point middle{};
    while (count < Cell::MaximumFaceSize && corners[count] >= 0) {
      for (std::size_t a = 0; a < 3; ++a) middle[a] += points[corners[count]][a];
      ++count;
    }
    for (double& x : middle) x /= count;
    for (int i = 0; i < count; ++i)
      sum.tetrahedron(mean, middle, points[corners[i]], points[corners[(i + 1) % count]]);
  }
}

void addPolygon(Sum& sum, std::int64_t count, const std::int64_t* ids, const Coordinates& at) {
  const Point first = at[ids[0]];
  Point normal{};
  for (std::int64_t i = 2; i < count; ++i) {
    const Point n = cross(minus(at[ids[i - 1]], first), minus(at[ids[i]], first));
    for (std::size_t a = 0; a < 3; ++a) normal[a] += n[a];
  }
  const double length = std::sqrt(dot(normal, normal));
  if (!(length > 0)) return;
  for (double& x : normal) x /= length;
  for (std::int64_t i = 2; i < count; ++i) sum.triangle(first, at[ids[i - 1]], at[ids[i]], normal);
}

/// Adds the tetrahedra from the mean of all points to fans on the faces.
void addPolyhedron(Sum& sum, vtkUnstructuredGrid* grid, std::int64_t cell, const Coordinates& at,
                   const Point& mean) {
  forEachFace(grid, cell, [&](const vtkIdType* corners, vtkIdType count) {
    Point middle{};
    for (vtkIdType i = 0; i < count; ++i)
      for (std::size_t a = 0; a < 3; ++a)
        middle[a] += at[corners[i]][a] / static_cast<double>(count);
    for (vtkIdType i = 0; i < count; ++i)
      sum.tetrahedron(mean, middle, at[corners[i]], at[corners[(i + 1) % count]]);
  });
}

/// Adds the simplices into which VTK divides the cell.
void addAsVTK(Sum& sum, vtkDataSet* dataSet, std::int64_t id) {
  vtkNew<vtkGenericCell> cell;
  dataSet->GetCell(id, cell);
  vtkNew<vtkIdList> ids;
  vtkNew<vtkPoints> points;
  if (!cell->Triangulate(0, ids, points)) return;
  const int corners = cell->GetCellDimension() + 1;
  std::array<Point, 4> p;
  for (vtkIdType i = 0; i + corners <= points->GetNumberOfPoints(); i += corners) {
    for (int j = 0; j < corners; ++j) points->GetPoint(i + j, p[index(j)].data());
    if (corners == 2) sum.line(p[0], p[1]);
    if (corners == 3) sum.triangle(p[0], p[1], p[2]);
    if (corners == 4) sum.tetrahedron(p[0], p[1], p[2], p[3]);
  }
}

}  // namespace

Coordinates::Coordinates(vtkDataArray* array) {
  if (array->GetDataType() == VTK_DOUBLE)
    doubles_ = static_cast<const double*>(array->GetVoidPointer(0));
  else
    floats_ = static_cast<const float*>(array->GetVoidPointer(0));
}

int leastPointsOf(int type) {
  switch (type) {
    case VTK_VERTEX:
      return 1;
    case VTK_LINE:
    case VTK_LAGRANGE_CURVE:
    case VTK_BEZIER_CURVE:
      return 2;
    case VTK_TRIANGLE:
    case VTK_QUADRATIC_EDGE:
      return 3;
    case VTK_QUAD:
    case VTK_PIXEL:
    case VTK_TETRA:
    case VTK_CUBIC_LINE:
      return 4;
    case VTK_PYRAMID:
      return 5;
    case VTK_WEDGE:
    case VTK_QUADRATIC_TRIANGLE:
    case VTK_QUADRATIC_LINEAR_QUAD:
      return 6;
    case VTK_BIQUADRATIC_TRIANGLE:
      return 7;
    case VTK_VOXEL:
    case VTK_HEXAHEDRON:
    case VTK_QUADRATIC_QUAD:
      return 8;
    case VTK_BIQUADRATIC_QUAD:
      return 9;
    case VTK_PENTAGONAL_PRISM:
    case VTK_QUADRATIC_TETRA:
      return 10;
    case VTK_HEXAGONAL_PRISM:
    case VTK_QUADRATIC_LINEAR_WEDGE:
      return 12;
    case VTK_QUADRATIC_PYRAMID:
      return 13;
    case VTK_QUADRATIC_WEDGE:
      return 15;
    case VTK_BIQUADRATIC_QUADRATIC_WEDGE:
      return 18;
    case VTK_TRIQUADRATIC_PYRAMID:
      return 19;
    case VTK_QUADRATIC_HEXAHEDRON:
      return 20;
    case VTK_BIQUADRATIC_QUADRATIC_HEXAHEDRON:
      return 24;
    case VTK_TRIQUADRATIC_HEXAHEDRON:
      return 27;
    default:
      return 0;
  }
}

bool isMeasuredByPoints(int type) {
  switch (type) {
    case VTK_VERTEX:
    case VTK_POLY_VERTEX:
    case VTK_LINE:
    case VTK_POLY_LINE:
    case VTK_TRIANGLE:
    case VTK_TRIANGLE_STRIP:
    case VTK_PIXEL:
    case VTK_QUAD:
    case VTK_POLYGON:
    case VTK_TETRA:
    case VTK_VOXEL:
    case VTK_HEXAHEDRON:
    case VTK_WEDGE:
    case VTK_PYRAMID:
    case VTK_PENTAGONAL_PRISM:
    case VTK_HEXAGONAL_PRISM:
      return true;
    default:
      return false;
  }
}

CellSize sizeOfCell(int type, std::int64_t count, const std::int64_t* ids, const Coordinates& at,
                    vtkDataSet* dataSet, std::int64_t cell) {
  if (count < 1) return {};
  std::array<Point, 12> p;
  Point mean{};
  for (std::int64_t i = 0; i < count; ++i) {
    const Point point = at[ids[i]];
    if (i < 12) p[index(i)] = point;
    for (std::size_t a = 0; a < 3; ++a) mean[a] += point[a];
  }
  for (double& x : mean) x /= static_cast<double>(count);
  Sum sum;
  switch (type) {
    case VTK_VERTEX:
    case VTK_POLY_VERTEX:
      break;
    case VTK_LINE:
    case VTK_POLY_LINE:
      for (std::int64_t i = 1; i < count; ++i) sum.line(at[ids[i - 1]], at[ids[i]]);
      break;
    case VTK_TRIANGLE:
      sum.triangle(p[0], p[1], p[2]);
      break;
    case VTK_TRIANGLE_STRIP:
      for (std::int64_t i = 2; i < count; ++i)
        sum.triangle(at[ids[i - 2]], at[ids[i - 1]], at[ids[i]]);
      break;
    case VTK_PIXEL:
      sum.triangle(p[0], p[1], p[3]);
      sum.triangle(p[0], p[3], p[2]);
      break;
    case VTK_QUAD:
    case VTK_POLYGON:
      addPolygon(sum, count, ids, at);
      break;
    case VTK_TETRA:
      sum.tetrahedron(p[0], p[1], p[2], p[3]);
      break;
    case VTK_VOXEL:  // along the axes
      return {std::abs((p[7][0] - p[0][0]) * (p[7][1] - p[0][1]) * (p[7][2] - p[0][2])), mean};
    case VTK_HEXAHEDRON:
      addFaces<vtkHexahedron>(sum, p.data(), 6, mean);
      break;
    case VTK_WEDGE:
      addFaces<vtkWedge>(sum, p.data(), 5, mean);
      break;
    case VTK_PYRAMID:
      addFaces<vtkPyramid>(sum, p.data(), 5, mean);
      break;
    case VTK_PENTAGONAL_PRISM:
      addFaces<vtkPentagonalPrism>(sum, p.data(), 7, mean);
      break;
    case VTK_HEXAGONAL_PRISM:
      addFaces<vtkHexagonalPrism>(sum, p.data(), 8, mean);
      break;
    case VTK_POLYHEDRON:
      if (auto* grid = vtkUnstructuredGrid::SafeDownCast(dataSet))
        addPolyhedron(sum, grid, cell, at, mean);
      break;
    default:
      addAsVTK(sum, dataSet, cell);
  }
  return sum.size(mean);
}

}  // namespace tributary
