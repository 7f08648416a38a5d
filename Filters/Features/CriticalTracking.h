// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Features/CriticalDomain.h"
#include "Features/FeatureTracking.h"

#include "Tributary/Features/CriticalPoints.h"

#include <cstdint>
#include <memory>
#include <vector>

/// Critical points: see tributary::CriticalPointTracker.
class vtkAsyncFeatureTracker::vtkCriticalPoints : public vtkTracking {
 public:
  using vtkTracking::vtkTracking;

  bool TakeUp(tributary::Transport& transport, vtkDataObject* input, double time,
              tributary::RunStatistics& statistics) override;
  bool Write(tributary::Transport& transport, vtkDataObject* input,
             vtkInformationVector* outputVector, tributary::RunStatistics& statistics) override;
  void Release() override;
  void TakeBack() override;
  tributary::Bytes Save() const override;
  void Load(tributary::Transport& transport, const std::vector<tributary::Bytes>& parts) override;

 private:
  /// The field of a step, by the numbers of points.
  struct KeptField {
    std::int64_t IsVector = 0;
    std::vector<std::int64_t> Ids;
    std::vector<double> Values;  ///< One or three of each point.
  };

  /// After a step all that is needed to take up the next one.
  struct Moment {
    std::int64_t Steps = 0;
    std::int64_t Mesh = 0;  ///< Its fingerprint.
    std::vector<tributary::Bytes> Tracker;
    KeptField Field;
  };

  void CheckMesh(tributary::Transport& transport, bool isVector) const;
  std::vector<std::vector<double>> LastValues(tributary::Transport& transport) const;

  Moment Before;  ///< The last step, to take it up again.
  Moment Now;
  tributary::TrajectoryPieces History;  ///< Of all steps on this rank.

  // Of the step that is being taken up.
  std::vector<tributary::Leaf> Leaves;
  std::unique_ptr<tributary::CriticalDomain> Domain;
  std::vector<tributary::TrajectoryPieces> Pieces;
  std::int64_t Tracks = 0;
};
