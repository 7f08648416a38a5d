// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "Lines/LineOutput.h"
#include "Lines/PointArrays.h"
#include "Lines/PointEvaluator.h"

#include "Tributary/Advection/Events.h"
#include "Tributary/Advection/Particle.h"
#include "Tributary/Collective/Assignment.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// A particle that was injected into a cell, on the rank that keeps it.
struct PathParticle {
  std::int64_t id;         ///< The same on any number of ranks.
  std::int64_t seed;       ///< The place of its seed in the order of all seeds.
  std::int64_t shownSeed;  ///< The id of its seed in the output.
  std::int32_t injection;  ///< Number of the injection, from 0.
  double injected;         ///< The time of the injection.
};

/// What a particle did in an interval between two steps.
struct PathEntry {
  std::int64_t particle = 0;     ///< Index in PathHistory::particles.
  std::int64_t first = 0;        ///< Its points in the arrays of the segment, in order of time:
  std::int64_t points = 0;       ///< without the point at the beginning that it has already.
  Reason reason = Reason::None;  ///< Why it ended; None while it can be continued.
  std::int8_t event = -1;        ///< That which ended it; -1 if none did.
  std::int64_t target = -1;      ///< LineEnd::target.
  double x[3] = {0, 0, 0};       ///< The last position,
  double time = 0;               ///< and its time,
  std::int64_t block = -1;       ///< and its block and cell, if known: see Seed.
  std::int64_t cell = -1;
  // With vorticity: the angle turned since the injection, and the angular velocity there.
  double rotation = 0;
  double angularVelocity = 0;
};

/// What a particle has done from its injection to the end of an interval, with events: see
/// LineProgress.
struct PathProgress {
  double length = 0;
  std::int32_t count[MostEvents] = {0};

  /// The crossings of all events.
  [[nodiscard]] std::int64_t crossings() const;
};

/// Points of the particles of this rank in an interval.
struct PathPoints {
  std::vector<PathEntry> entries;  ///< In the order of particles.
  // The arrays of the points; the same on all ranks, also on those without particles. There are
  // none if no rank has a particle.
  std::vector<PointField> fields;
  std::vector<vtkSmartPointer<vtkDataArray>> arrays;  ///< By field.
  PointArrayList list;                                ///< Properties of interpolated arrays.

  /// The memory of the points in bytes.
  [[nodiscard]] std::size_t memory() const;
};

/// The points that the particles of this rank recorded in an interval, and those of particles
/// injected at its end.
struct PathSegment : PathPoints {
  /// The blocks of entries; null if no rank has a particle, or the next interval must search for
  /// cells.
  std::shared_ptr<const Assignment> blocks;
  // With events:
  std::vector<PathProgress> progress;  ///< By entry.
  PathPoints crossings;  ///< In the order of particles and of time; entries of those that cross.
};

/// An injection of particles; the same on all ranks.
struct PathInjection {
  std::int64_t step;   ///< Index of its segment.
  std::int64_t seeds;  ///< On all ranks, also those that lay in no cell.
};

/// What is kept of the particles of this rank at all steps that were added.
struct PathHistory {
  std::vector<PathParticle> particles;  ///< Ordered by injection, then by seed.
  /// For each step the interval before it; for the first step only the injection.
  std::vector<PathSegment> segments;
  std::vector<PathInjection> injections;

  /// The number of seeds of all injections, on all ranks; the next particle id.
  [[nodiscard]] std::int64_t seedsSoFar() const;
  /// Whether injections had different numbers of seeds.
  [[nodiscard]] bool seedsVary() const;
  /// Local. The seeds of this rank that lay in no cell.
  [[nodiscard]] std::int64_t outside(const Transport& transport) const;
  /// Local. Forgets all steps but the first ones.
  void keepSteps(std::size_t steps);
};

/// Local. Removes the points of all particles but the last one of each that is at the end of the
/// interval.
void keepLastPoints(PathPoints& segment);

}  // namespace tributary
