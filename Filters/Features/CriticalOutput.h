// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Tributary/Features/Trajectories.h"

class vtkPolyData;
class vtkTable;

namespace tributary {

/// Writes critical points and their trajectories, each rank its own. Local.
class CriticalOutput {
 public:
  /// @param isVector   whether they are those of a vector field
  /// @param dimension  of space
  CriticalOutput(bool isVector, int dimension) : isVector_(isVector), dimension_(dimension) {}

  /// A polyline for each trajectory, a vertex for each of one point.
  void writeTrajectories(const Trajectories& all, vtkPolyData* output) const;
  /// A row for each critical point of a step, which pieces that ended in it give.
  void writePoints(const std::vector<TrajectoryPieces>& pieces, std::int64_t step,
                   vtkTable* table) const;
  /// A row for each birth, death and change of kind.
  void writeEvents(const Trajectories& all, vtkTable* table) const;
  /// A row for each part of a trajectory between critical points of steps.
  void writeEdges(const Trajectories& all, vtkTable* table) const;

 private:
  bool isVector_;
  int dimension_;
};

/// Calls `visit(piece, end)` for each critical point of a step in the pieces that ended in it.
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
