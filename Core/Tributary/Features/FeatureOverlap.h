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

/// A place in a feature that stands for a part of its volume, usually a cell at its centroid.
struct FeatureSample {
  std::array<double, 3> place;
  std::int64_t feature;     ///< Its number in its step, from 0.
  std::int64_t motion = 0;  ///< Which of the feature's motions has brought it there.
  FixedSum volume;
};

/// What a feature, moved by one of its motions, has in common with one of the next step, or a part
/// of that.
struct FeatureOverlap {
  std::int64_t before;
  std::int64_t motion;
  std::int64_t after;
  FixedSum volume;
};

/// Finds the later features that samples of earlier ones lie in, whoever has them. Collective;
/// memory follows a rank's samples, and the places that others ask it about. Every rank knows the
/// boxes of all.
///
/// Throws Error on all ranks if `featureAt` throws on one, or if a message is malformed.
/// @param boxes  of this rank: outside of all of them `featureAt` finds nothing
/// @param featureAt  local: the least of the features that a place lies in on this rank, -1 if
///                   there is none; a place on the border of two is in both
/// @return of this rank's samples, sorted, each (before, motion, after) once. Added up over the
///         ranks it does not depend on who has which samples and features.
std::vector<FeatureOverlap> findOverlaps(
    Transport& transport, Span<const FeatureSample> samples, const std::vector<Box>& boxes,
    const std::function<std::int64_t(const std::array<double, 3>&)>& featureAt);

/// Adds up what is given of the same features and motion, and sorts.
void addUp(std::vector<FeatureOverlap>& overlaps);

}  // namespace tributary
