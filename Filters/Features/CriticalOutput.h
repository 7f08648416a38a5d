// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Tributary/Features/Trajectories.h"

class vtkPolyData;
class vtkTable;

namespace tributary {

/// Writes this rank's critical points and trajectories. Local.
class CriticalOutput {
 public:
  /// @param isVector   whether the field is a vector field
  /// @param dimension  of space
  CriticalOutput(bool isVector, int dimension) : isVector_(isVector), dimension_(dimension) {}

  /// Writes a polyline for each trajectory with several points, a vertex for each with one.
  void writeTrajectories(const Trajectories& all, vtkPolyData* output) const;
  /// Writes a row for each critical point of a step, from the pieces added with the step.
  void writePoints(const std::vector<TrajectoryPieces>& pieces, std::int64_t step,
                   vtkTable* table) const;
  /// Writes a row for each birth, death and change of kind.
  void writeEvents(const Trajectories& all, vtkTable* table) const;
  /// Writes a row for each part of a trajectory between critical points of steps.
  void writeEdges(const Trajectories& all, vtkTable* table) const;

 private:
  bool isVector_;
  int dimension_;
};

/// Calls `visit(piece, point)` for each critical point of a step in the pieces added with the step.
template <class Visit>
void forPointsOfStep(const TrajectoryPieces& pieces, std::int64_t step, Visit&& visit) {
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Span<const CriticalPoint> points = pieces.piece(i);
    for (const std::size_t end : {std::size_t(0), points.size() - 1}) {
      if (points[end].face.upper == 0 && points[end].face.step == step) visit(i, points[end]);
      if (points.size() == 1) break;
    }
  }
}

}  // namespace tributary
