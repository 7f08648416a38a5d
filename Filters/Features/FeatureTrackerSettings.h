// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Regions/RegionArrays.h"
#include "Regions/RegionSettings.h"
#include "Time/CheckpointUse.h"

#include "Tributary/Features/FeatureGraph.h"

namespace tributary {

/// The properties of a feature tracker for one execution.
struct FeatureTrackerSettings {
  /// Whether critical points are tracked instead of regions.
  bool criticalPoints = false;
  /// See CriticalPointOptions::center.
  double centerTolerance = 0.05;
  /// What regions are, and how parts of features on different ranks are united.
  RegionSettings regions;
  TrackingOptions tracking;
  /// Whether regions move with the velocity that findVelocity() returns.
  bool usesVelocity = false;
  FindArray findVelocity;
  FindArray findCriticalField;
  CheckpointSettings checkpoints;
};

}  // namespace tributary
