// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkPolyData.h>
#include <vtkSmartPointer.h>

#include <cstddef>
#include <set>
#include <string>

#include "Paths/PathHistory.h"

#include "Tributary/Transport/Transport.h"

namespace tributary {

/// What the output of a path tracer consists of.
enum class PathKind {
  Pathlines,    ///< For each particle the line from its injection to the time of the output.
  Streaklines,  ///< For each seed the line through its particles.
  Particles     ///< For each particle that is inside a vertex.
};

/// The part of a history that an output shows.
struct ShownPaths {
  const PathHistory& history;
  std::size_t steps = 0;              ///< The number of segments.
  const PathSegment* part = nullptr;  ///< What follows them, or null.
  double time = 0;                    ///< Of the output.
  bool hasEvents = false;             ///< Whether events were given,
  bool hasSurface = false;            ///< and whether some are at a surface.

  /// The last segment. @pre there is one
  const PathSegment& last() const { return part ? *part : history.segments[steps - 1]; }
};

/// Whether a particle is in the domain at a time, at the end of a segment.
[[nodiscard]] bool isInside(const PathEntry& entry, double time);

/// Local. Makes the output of this rank. Throws an Error of kind Aborted if the transport is
/// interrupted.
/// @param dropped  receives the names of point arrays that only some of the segments have
[[nodiscard]] vtkSmartPointer<vtkPolyData> makePathOutput(const Transport& transport,
                                                          const ShownPaths& shown, PathKind kind,
                                                          std::set<std::string>& dropped);

/// Local. Makes the second output of this rank: a vertex for each crossing of an event until the
/// time shown, ordered by particle and along its path. Throws as makePathOutput().
[[nodiscard]] vtkSmartPointer<vtkPolyData> makeCrossingOutput(const Transport& transport,
                                                              const ShownPaths& shown);

}  // namespace tributary
