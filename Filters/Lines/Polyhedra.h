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

/// The polyhedra of a grid, with the interpolation weights of VTK (mean value coordinates) and a
/// deterministic inside test. The test of VTK casts rays in random directions, so repeated tests of
/// a point near a face may give different results. This test computes the signed distance to the
/// planes of the faces, which depends only on the cell and the point, and is about a hundred times
/// faster.
class Polyhedra {
 public:
  explicit Polyhedra(vtkUnstructuredGrid* grid);

  bool holds(std::int64_t cell) const {
    return !slot_.empty() && slot_[static_cast<std::size_t>(cell)] >= 0;
  }

  /// One cell in the form that VTK's interpolator requires. A thread reuses it as long as the cell
  /// is the same.
  struct Scratch {
    std::int64_t cell = -1;
    vtkSmartPointer<vtkPoints> points;
    vtkSmartPointer<vtkCellArray> faces;
    std::vector<double> shifted;
  };

  /// Same as ForeignCells::evaluate(), for a cell for which holds() is true.
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
    std::array<double, 3> normal;  // outward unit normal; 0 for a face without area
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
