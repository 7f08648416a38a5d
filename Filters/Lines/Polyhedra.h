// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkCellArray.h>
#include <vtkPoints.h>
#include <vtkSmartPointer.h>

#include <array>
#include <cstdint>
#include <vector>

class vtkIdList;
class vtkUnstructuredGrid;

namespace tributary {

/// The polyhedra of a grid: VTK's interpolation weights (mean value coordinates), with an inside
/// test of our own. VTK's shoots rays in random directions, so that a point near a face is inside
/// at one time and outside at another; here it is the signed distance to the planes of the faces,
/// which depends on the cell and the point alone (and is some hundred times faster).
class Polyhedra {
 public:
  explicit Polyhedra(vtkUnstructuredGrid* grid);

  bool holds(std::int64_t cell) const {
    return !slot_.empty() && slot_[static_cast<std::size_t>(cell)] >= 0;
  }

  /// One cell as VTK's interpolator wants it; kept by a thread for as long as the cell is the same.
  struct Scratch {
    std::int64_t cell = -1;
    vtkSmartPointer<vtkPoints> points;
    vtkSmartPointer<vtkCellArray> faces;
    std::vector<double> shifted;
  };

  /// As ForeignCells::evaluate, for a cell that holds().
  int evaluate(std::int64_t cell, const double point[3], std::int64_t* ids, double* weights,
               double* gradients, double& violation, Scratch& scratch) const;

 private:
  struct Cell {
    std::int64_t firstFace, endFace;    // in faces_
    std::int64_t firstPoint, endPoint;  // in points_
    std::array<double, 3> size;         // of the bounding box
    double length;                      // its diagonal
  };
  struct Face {
    std::array<double, 3> normal;  // outward, unit; 0 for a face without area
    double offset;                 // normal . x on the face
    std::int64_t firstCorner, endCorner;
  };

  void add(vtkIdType id);
  void addFace(vtkIdType id, const vtkIdType* corners, vtkIdType count, vtkIdList* ids,
               const std::vector<std::array<double, 3>>& at, const std::array<double, 3>& center);
  void prepare(const Cell& cell, std::int64_t id, Scratch& scratch) const;

  vtkUnstructuredGrid* grid_;
  std::vector<std::int32_t> slot_;  // per cell of the grid, -1 for other types
  std::vector<Cell> cells_;
  std::vector<Face> faces_;
  std::vector<std::int64_t> points_;  // ids in the grid
  std::vector<vtkIdType> corners_;    // numbers within the cell
};

}  // namespace tributary
