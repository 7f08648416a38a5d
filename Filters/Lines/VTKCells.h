// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataSet.h>
#include <vtkGenericCell.h>
#include <vtkSMPThreadLocal.h>
#include <vtkSmartPointer.h>

#include <memory>
#include <vector>

#include "Lines/Polyhedra.h"

#include "Tributary/Advection/MeshField.h"

namespace tributary {

/// Cells of a data set that VTK evaluates: polyhedra, quadratic and other higher-order cells,
/// polygons, and strips. The data set must outlive this object and must not change.
class VTKCells : public ForeignCells {
 public:
  /// Prepares the data set for VTK's thread-safe GetCell(). Must be called by one thread.
  explicit VTKCells(vtkDataSet* dataSet);

  int evaluate(std::int64_t cell, const double point[3], std::int64_t* ids, double* weights,
               double* gradients, double& violation) const override;
  int maximumPoints() const override { return maximumPoints_; }

 private:
  /// The cell of one thread and its buffers for intermediate values.
  struct Scratch {
    vtkSmartPointer<vtkGenericCell> cell;
    vtkIdType id = -1;
    double length = 0;
    std::vector<double> values;
    Polyhedra::Scratch polyhedron;
  };

  vtkDataSet* dataSet_;
  std::unique_ptr<Polyhedra> polyhedra_;
  int maximumPoints_;
  mutable vtkSMPThreadLocal<Scratch> scratch_;
};

}  // namespace tributary
