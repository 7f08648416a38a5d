// SPDX-License-Identifier: BSD-3-Clause
#include "Lines/Polyhedra.h"

#include <vtkCellType.h>
#include <vtkIdList.h>
#include <vtkMeanValueCoordinatesInterpolator.h>
#include <vtkNew.h>
#include <vtkUnstructuredGrid.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "Common/VTKVersions.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"

namespace tributary {
namespace {

using Vec = std::array<double, 3>;

double dot(const Vec& a, const Vec& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// No weights are computed for points farther outside than this, in cell lengths.
constexpr double FarOutside = 0.01;

}  // namespace

Polyhedra::Polyhedra(vtkUnstructuredGrid* grid) : grid_(grid) {
  const vtkIdType cells = grid->GetNumberOfCells();
  for (vtkIdType c = 0; c < cells; ++c) {
    if (grid->GetCellType(c) != VTK_POLYHEDRON) continue;
    if (slot_.empty()) slot_.assign(static_cast<std::size_t>(cells), -1);
    slot_[static_cast<std::size_t>(c)] = static_cast<std::int32_t>(cells_.size());
    add(c);
  }
}

void Polyhedra::add(vtkIdType id) {
  Cell cell{};
  cell.firstFace = static_cast<std::int64_t>(faces_.size());
  cell.firstPoint = static_cast<std::int64_t>(points_.size());
  vtkNew<vtkIdList> ids;
  grid_->GetCellPoints(id, ids);
  points_.insert(points_.end(), ids->begin(), ids->end());
  cell.endPoint = static_cast<std::int64_t>(points_.size());

  std::vector<Vec> at(static_cast<std::size_t>(ids->GetNumberOfIds()));
  Vec lo, hi, center{};
  lo.fill(std::numeric_limits<double>::infinity());
  hi.fill(-std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < at.size(); ++i) {
    grid_->GetPoint(ids->GetId(static_cast<vtkIdType>(i)), at[i].data());
    for (std::size_t a = 0; a < 3; ++a) {
      lo[a] = std::min(lo[a], at[i][a]);
      hi[a] = std::max(hi[a], at[i][a]);
      center[a] += at[i][a] / static_cast<double>(at.size());
    }
  }
  for (std::size_t a = 0; a < 3; ++a) cell.size[a] = at.empty() ? 0 : hi[a] - lo[a];
  cell.length = std::sqrt(dot(cell.size, cell.size));

  forEachFace(grid_, id, [&](const vtkIdType* corners, vtkIdType count) {
    addFace(id, corners, count, ids, at, center);
  });
  cell.endFace = static_cast<std::int64_t>(faces_.size());
  cells_.push_back(cell);
}

/// @param corners  of the face, as numbers in the grid
/// @param ids, at  the cell's points and their coordinates
/// @param center  mean of these
void Polyhedra::addFace(vtkIdType id, const vtkIdType* corners, vtkIdType count, vtkIdList* ids,
                        const std::vector<Vec>& at, const Vec& center) {
  Face face{};
  face.firstCorner = static_cast<std::int64_t>(corners_.size());
  Vec middle{};
  for (vtkIdType i = 0; i < count; ++i) {
    const auto found = std::find(ids->begin(), ids->end(), corners[i]);
    if (found == ids->end())
      throw Error("polyhedron " + std::to_string(id) +
                  " has a face with a point that is not one of its points; repair it where the "
                  "data set is read or made");
    corners_.push_back(found - ids->begin());
    for (std::size_t a = 0; a < 3; ++a)
      middle[a] += at[index(corners_.back())][a] / static_cast<double>(count);
  }
  face.endCorner = static_cast<std::int64_t>(corners_.size());
  for (auto i = face.firstCorner; i < face.endCorner; ++i) {
    const auto next = i + 1 < face.endCorner ? i + 1 : face.firstCorner;
    const Vec& p = at[index(corners_[index(i)])];
    const Vec& q = at[index(corners_[index(next)])];
    for (std::size_t a = 0; a < 3; ++a) {
      const std::size_t b = (a + 1) % 3, c = (a + 2) % 3;
      face.normal[a] +=
          (p[b] - middle[b]) * (q[c] - middle[c]) - (p[c] - middle[c]) * (q[b] - middle[b]);
    }
  }
  const double area = std::sqrt(dot(face.normal, face.normal));
  const Vec outward{middle[0] - center[0], middle[1] - center[1], middle[2] - center[2]};
  // The order of corners in the grid is not a reliable direction.
  const double sign = dot(face.normal, outward) < 0 ? -1 : 1;
  for (double& n : face.normal) n = area > 0 ? sign * n / area : 0;
  face.offset = dot(face.normal, middle);
  faces_.push_back(face);
}

void Polyhedra::prepare(const Cell& cell, std::int64_t id, Scratch& scratch) const {
  if (scratch.cell == id) return;
  scratch.cell = id;
  if (!scratch.points) {
    scratch.points = vtkSmartPointer<vtkPoints>::New();
    scratch.points->SetDataTypeToDouble();
    scratch.faces = vtkSmartPointer<vtkCellArray>::New();
  }
  scratch.points->SetNumberOfPoints(cell.endPoint - cell.firstPoint);
  for (auto i = cell.firstPoint; i < cell.endPoint; ++i) {
    double x[3];
    grid_->GetPoint(points_[static_cast<std::size_t>(i)], x);
    scratch.points->SetPoint(i - cell.firstPoint, x);
  }
  scratch.faces->Reset();
  for (auto f = cell.firstFace; f < cell.endFace; ++f) {
    const Face& face = faces_[static_cast<std::size_t>(f)];
    scratch.faces->InsertNextCell(face.endCorner - face.firstCorner,
                                  &corners_[static_cast<std::size_t>(face.firstCorner)]);
  }
}

int Polyhedra::evaluate(std::int64_t id, const double point[3], std::int64_t* ids, double* weights,
                        double* gradients, double& violation, Scratch& scratch) const {
  const Cell& cell = cells_[static_cast<std::size_t>(slot_[static_cast<std::size_t>(id)])];
  const Vec x{point[0], point[1], point[2]};
  double outside = 0;
  for (auto f = cell.firstFace; f < cell.endFace; ++f) {
    const Face& face = faces_[static_cast<std::size_t>(f)];
    outside = std::max(outside, dot(face.normal, x) - face.offset);
  }
  violation = cell.length > 0 ? outside / cell.length : outside;
  const auto count = static_cast<int>(cell.endPoint - cell.firstPoint);
  if (!(violation <= FarOutside)) return 0;
  for (int j = 0; j < count; ++j) ids[j] = points_[static_cast<std::size_t>(cell.firstPoint + j)];

  prepare(cell, id, scratch);
  using Interpolator = vtkMeanValueCoordinatesInterpolator;
  Interpolator::ComputeInterpolationWeights(point, scratch.points, scratch.faces, weights);
  if (!gradients) return count;
  // Differences over a hundredth of the cell's box, as VTK takes derivatives in polyhedra.
  constexpr double Shift = 0.01;
  scratch.shifted.resize(static_cast<std::size_t>(count));
  for (std::size_t a = 0; a < 3; ++a) {
    Vec there = x;
    there[a] += Shift * cell.size[a];
    const double distance = there[a] - x[a];
    Interpolator::ComputeInterpolationWeights(there.data(), scratch.points, scratch.faces,
                                              scratch.shifted.data());
    for (int j = 0; j < count; ++j)
      gradients[3 * static_cast<std::size_t>(j) + a] =
          distance != 0 ? (scratch.shifted[static_cast<std::size_t>(j)] - weights[j]) / distance
                        : 0;
  }
  return count;
}

}  // namespace tributary
