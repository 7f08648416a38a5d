// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "Tributary/Base/Box.h"
#include "Tributary/Base/FixedSum.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// A point that represents a part of a feature's volume, usually a cell by its centroid.
struct FeatureSample {
  std::array<double, 3> place;
  std::int64_t feature;     ///< Number of the feature in its step, from 0.
  std::int64_t motion = 0;  ///< Number of the feature's motion that moved the sample.
  FixedSum volume;
};

/// The volume that a feature, moved by one of its motions, shares with a feature of the next step,
/// or a part of it.
struct FeatureOverlap {
  std::int64_t before;
  std::int64_t motion;
  std::int64_t after;
  FixedSum volume;
};

/// The feature at a place.
struct FeatureAtPlace {
  /// Whether the place is that of a part of the step, such as the centroid of a cell. Then it is of
  /// the features of these parts alone, whatever else contains it.
  bool isOfPart = false;
  std::int64_t feature = -1;  ///< The lowest number of its features, -1 if there are none.

  /// Adds what else is at the place.
  void add(const FeatureAtPlace& other);
};

/// The boxes of one rank, outside of which it has no features, and their bounding box.
struct FeatureReach {
  Box all;
  std::vector<Box> boxes;

  /// Adds a box, unless it is empty or has coordinates that are no numbers.
  void add(const Box& box);
  /// Whether a place is in one of the boxes.
  [[nodiscard]] bool contains(const std::array<double, 3>& place) const;
};

/// Returns the reach of each rank, the same on all ranks. Collective.
/// @param boxes  of this rank
[[nodiscard]] std::vector<FeatureReach> gatherReaches(Transport& transport,
                                                      const std::vector<Box>& boxes);

/// Finds the features of a step that contain samples of the step before, on any rank. Collective.
/// Memory is proportional to a rank's samples and the samples that other ranks ask about.
///
/// Throws Error on all ranks if `featureAt` throws on one or a message is malformed.
/// @param reaches    of all ranks; `featureAt` finds nothing outside of that of this rank
/// @param featureAt  local: the feature at a place as far as it is on this rank; a place on the
///                   border of two features is in both
/// @return the overlaps of this rank's samples, sorted, each (before, motion, after) once. Their
///         sum over the ranks does not depend on the distribution of samples and features.
[[nodiscard]] std::vector<FeatureOverlap> findOverlaps(
    Transport& transport, Span<const FeatureSample> samples,
    const std::vector<FeatureReach>& reaches,
    const std::function<FeatureAtPlace(const std::array<double, 3>&)>& featureAt);

/// Adds up overlaps of the same features and motion, and sorts them by (before, after, motion).
/// Local. Throws Error if a volume is larger than a sum can hold, as in a damaged message.
void addUp(std::vector<FeatureOverlap>& overlaps);

}  // namespace tributary
