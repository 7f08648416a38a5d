// SPDX-License-Identifier: BSD-3-Clause
#include "Lines/VTKCells.h"

#include <vtkCellType.h>
#include <vtkMath.h>
#include <vtkNew.h>
#include <vtkUnstructuredGrid.h>

#include <algorithm>
#include <cmath>

#include "Common/CellSize.h"

namespace tributary {
namespace {

/// Gradients of the shape functions: the derivatives of fields that are 1 at one point and 0 at the
/// others, three of them at a time.
void shapeGradients(vtkCell* cell, int subId, const double pcoords[3], std::vector<double>& values,
                    double* gradients) {
  const vtkIdType points = cell->GetNumberOfPoints();
  values.assign(static_cast<std::size_t>(3 * points), 0.0);
  for (vtkIdType first = 0; first < points; first += 3) {
    const vtkIdType count = std::min<vtkIdType>(3, points - first);
    for (vtkIdType j = 0; j < count; ++j) values[static_cast<std::size_t>(3 * (first + j) + j)] = 1;
    double derivatives[9] = {};  // VTK leaves them alone where it cannot invert a Jacobian
    cell->Derivatives(subId, pcoords, values.data(), 3, derivatives);
    for (vtkIdType j = 0; j < count; ++j) {
      for (int axis = 0; axis < 3; ++axis)
        gradients[3 * (first + j) + axis] = derivatives[3 * j + axis];
      values[static_cast<std::size_t>(3 * (first + j) + j)] = 0;
    }
  }
}

/// Whether InterpolateFunctions() of a cell takes parametric coordinates, and not a place.
bool isParametric(vtkCell* cell) {
  switch (cell->GetCellType()) {
    case VTK_TRIANGLE_STRIP:
    case VTK_POLYGON:
    case VTK_QUADRATIC_POLYGON:
    case VTK_CONVEX_POINT_SET:
    case VTK_POLYHEDRON:
      return false;
    default:
      return cell->GetCellDimension() >= 2;
  }
}

/// Whether to take differences although VTK has derivatives. VTK reads beyond its arrays for those
/// of Bezier cells with triangles: their shape functions are addressed by the order of the cell
/// where there are those of one order less. In cells of two dimensions it warns where a cell that
/// is not plane stands upright on the plane of three of its points.
bool needsDifferences(vtkCell* cell) {
  const int type = cell->GetCellType();
  return cell->GetCellDimension() == 2 || type == VTK_BEZIER_TETRAHEDRON ||
         type == VTK_BEZIER_WEDGE;
}

bool isPyramid(int type) {
  return type == VTK_QUADRATIC_PYRAMID || type == VTK_TRIQUADRATIC_PYRAMID;
}

/// Derivatives at a point of a cell by its parametric coordinates, by differences along their axes.
class ParametricDerivatives {
 public:
  /// @pre isParametric(cell)
  /// @param scratch  must outlive this object
  ParametricDerivatives(vtkCell* cell, const double pcoords[3], std::vector<double>& scratch)
      : points_(static_cast<std::size_t>(cell->GetNumberOfPoints())),
        dimension_(cell->GetCellDimension()),
        shape_(scratch) {
    constexpr double Step = 1e-4;  // shape functions are smooth and of the order of 1
    double center[3] = {pcoords[0], pcoords[1], pcoords[2]};
    if (isPyramid(cell->GetCellType()) && center[2] > Highest) {  // they are singular at the apex
      center[2] = Highest;
      isNearApex_ = true;
    }
    shape_.assign(6 * points_, 0.0);
    double* const before = shape_.data() + 3 * points_;
    double origin[3];  // coordinates may be large beside the cell
    cell->GetPoints()->GetPoint(0, origin);
    for (int r = 0; r < dimension_; ++r) {
      double* const derivatives = shape_.data() + static_cast<std::size_t>(r) * points_;
      double at[3] = {center[0], center[1], center[2]};
      at[r] = center[r] - Step;
      cell->InterpolateFunctions(at, before);
      at[r] = center[r] + Step;
      cell->InterpolateFunctions(at, derivatives);
      double point[3];
      for (std::size_t j = 0; j < points_; ++j) {
        derivatives[j] = (derivatives[j] - before[j]) / (2 * Step);
        cell->GetPoints()->GetPoint(static_cast<vtkIdType>(j), point);
        for (int a = 0; a < 3; ++a) jacobian_[r][a] += derivatives[j] * (point[a] - origin[a]);
      }
    }
    for (const auto& row : jacobian_)
      for (const double entry : row) largest_ = std::max(largest_, std::fabs(entry));
    if (dimension_ == 2) {  // a normal as long as the axes
      vtkMath::Cross(jacobian_[0], jacobian_[1], jacobian_[2]);
      vtkMath::Normalize(jacobian_[2]);
      vtkMath::MultiplyScalar(jacobian_[2], largest_);
    }
    determinant_ = std::fabs(vtkMath::Determinant3x3(jacobian_));
  }

  /// Whether VTK can invert the Jacobian matrix of a cell of three dimensions: it refuses pivots of
  /// at most 1e-12, whatever the size of the cell, and prints an error. No pivot is larger than
  /// four times the largest entry.
  bool canBeInvertedByVTK() const {
    constexpr double SmallestPivot = 1e-11, Flat = 1e-6;
    return !isNearApex_ &&
           determinant_ > std::max(16 * SmallestPivot, Flat * largest_) * largest_ * largest_;
  }
  /// As shapeGradients(); 0 where the parametric axes do not span the cell's space.
  void gradients(double* gradients) const {
    constexpr double Flat = 1e-10;  // beyond the errors of differences
    double inverse[3][3] = {};
    if (determinant_ > Flat * largest_ * largest_ * largest_)
      vtkMath::Invert3x3(jacobian_, inverse);
    for (std::size_t j = 0; j < points_; ++j)
      for (int a = 0; a < 3; ++a) {
        double sum = 0;
        for (int r = 0; r < dimension_; ++r)
          sum += inverse[a][r] * shape_[static_cast<std::size_t>(r) * points_ + j];
        gradients[3 * j + static_cast<std::size_t>(a)] = sum;
      }
  }

 private:
  static constexpr double Highest = 0.999;  // in pyramids, whose apex is at 1

  std::size_t points_;
  int dimension_;
  bool isNearApex_ = false;
  std::vector<double>& shape_;            // derivatives of shape functions: axis by axis
  double jacobian_[3][3] = {};            // derivatives of the point along each axis
  double largest_ = 0, determinant_ = 0;  // absolute
};

}  // namespace

VTKCells::VTKCells(vtkDataSet* dataSet)
    // Triangle strips set three weights, however few points they have.
    : dataSet_(dataSet), maximumPoints_(std::max(dataSet->GetMaxCellSize(), 3)) {
  if (auto* grid = vtkUnstructuredGrid::SafeDownCast(dataSet))
    polyhedra_ = std::make_unique<Polyhedra>(grid);
  // The first call builds what later calls only read.
  if (dataSet->GetNumberOfCells() > 0) {
    vtkNew<vtkGenericCell> cell;
    dataSet->GetCell(0, cell);
  }
}

int VTKCells::evaluate(std::int64_t id, const double point[3], std::int64_t* ids, double* weights,
                       double* gradients, double& violation) const {
  Scratch& scratch = scratch_.Local();
  if (polyhedra_ && polyhedra_->holds(id))
    return polyhedra_->evaluate(id, point, ids, weights, gradients, violation, scratch.polyhedron);
  if (!isEvaluable(point)) return 0;
  if (!scratch.cell) scratch.cell = vtkSmartPointer<vtkGenericCell>::New();
  if (scratch.id != id) {
    dataSet_->GetCell(id, scratch.cell);
    scratch.id = id;
    scratch.length = std::sqrt(scratch.cell->GetLength2());
  }
  vtkGenericCell* cell = scratch.cell;
  const int points = static_cast<int>(cell->GetNumberOfPoints());
  if (points < 1 || points > maximumPoints_ || !(scratch.length <= LongestDiagonal)) return 0;
  int subId = 0;
  double pcoords[3]{}, closest[3]{}, distance2 = 0;
  const int status = cell->EvaluatePosition(point, closest, subId, pcoords, distance2, weights);
  if (status < 0) return 0;
  violation = 0;
  if (status == 0 || cell->GetCellDimension() < 3) {
    const double distance = std::sqrt(std::max(distance2, 0.0));
    violation = scratch.length > 0 ? distance / scratch.length : distance;
  }
  for (int j = 0; j < points; ++j) ids[j] = cell->GetPointId(j);
  if (gradients) {
    if (isParametric(cell)) {
      const ParametricDerivatives derivatives(cell, pcoords, scratch.values);
      if (needsDifferences(cell) || !derivatives.canBeInvertedByVTK()) {
        derivatives.gradients(gradients);
        return points;
      }
    }
    shapeGradients(cell, subId, pcoords, scratch.values, gradients);
  }
  return points;
}

}  // namespace tributary
