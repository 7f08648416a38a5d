// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "Common/PropertyList.h"
#include "Common/RunContext.h"
#include "Features/FeatureTrackerSettings.h"
#include "Features/FeatureTracking.h"
#include "Time/CheckpointUse.h"
#include "Time/TimePlan.h"

class vtkAlgorithm;
class vtkDataObject;

namespace tributary {

/// The part of a feature tracker that is kept between executions.
struct FeatureTrackerState {
  /// The properties and the input, which must be the same for all steps.
  struct Basis {
    PropertyList properties;
    const vtkAlgorithm* input = nullptr;
    int inputPort = 0;

    bool operator==(const Basis& other) const {
      return properties == other.properties && input == other.input && inputPort == other.inputPort;
    }
  };

  /// Local. Plans the executions up to a time. Parameters are those of TimePlan::plan().
  /// @param isWhole  whether the last execution neither failed nor was aborted
  void plan(Span<const double> steps, double time, Basis basis, bool isWhole);
  /// Local. Finds the checkpoint to resume, if the first execution follows.
  void planToResume(const std::string& directory);

  TimePlan time;
  std::unique_ptr<FeatureTracking> tracking;  ///< Of the steps added so far.
  Basis begun;                                ///< Of the steps added so far.
  Basis requested;                            ///< Of the next step.
  CheckpointUse checkpoints{"features"};
};

/// One execution of a feature tracker: adds one step to those before.
class FeatureTrackerRun {
 public:
  FeatureTrackerRun(const RunContext& context, const FeatureTrackerSettings& settings,
                    FeatureTrackerState& state);

  /// Collective. Adds a step, and writes the outputs if it is the last one of the plan.
  /// @return false after an abort
  [[nodiscard]] bool execute(vtkDataObject* input, const FeatureOutputs& outputs);

  /// Whether the filter must be executed again before its outputs are those of the requested time.
  bool isUnderWay() const { return isUnderWay_; }

 private:
  double timeOf(vtkDataObject* input, bool& isPassedOver) const;
  void load();
  void begin(double time);
  void writeCheckpoint();

  RunContext context_;  // its progress is that of all steps of the plan
  const FeatureTrackerSettings& settings_;
  FeatureTrackerState& state_;
  bool isUnderWay_ = false;
};

}  // namespace tributary
