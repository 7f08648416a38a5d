// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "Tributary/Collective/Shares.h"

#include "Tributary/Advection/Frames.h"
#include "Tributary/Advection/Tracer.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// The output positions of the points of a half line: point `index` is at base + sign * index.
struct HalfLine {
  std::int64_t base = 0;
  std::int32_t points = 0;  ///< Number of points on all ranks.
  std::int8_t sign = 1;     ///< -1 for the backward half of a joined line.
  bool isOutput = false;    ///< False for lines with fewer than two points.
  /// Points at the beginning without a place: the seed, if the other half of a joined line contains
  /// it, or points that were not recorded.
  std::int32_t skipped = 0;
  Reason reason = Reason::None;
  std::int32_t crossings = 0;  ///< Of events, on all ranks.
  std::int32_t event = -1;     ///< That which ended the line; -1 if none did.
  std::int64_t target = -1;    ///< LineEnd::target.
  // Where it ended, the time and the length of the line there.
  double end[3] = {0, 0, 0};
  double time = 0, length = 0;
};

/// A polyline of the output. Its origin is the seed.
struct OutputLine : Polyline {
  std::int64_t seed = 0;  ///< Position of the seed in the order of all seeds.
  Reason reason = Reason::None;
  std::int32_t event = -1;   ///< See HalfLine.
  std::int64_t target = -1;  ///< LineEnd::target.
};

/// The lines that this rank outputs: those of its share of the seeds, ordered by seed, forward
/// before backward.
struct LineTable {
  std::int64_t firstSeed = 0;
  std::vector<HalfLine> halves;  ///< [2 * (seed - firstSeed) + backward]
  std::vector<OutputLine> lines;
  std::int64_t points = 0;
  bool hasEvents = false;              ///< Whether events were given.
  bool hasSurface = false;             ///< Whether some are at a surface.
  std::vector<std::int64_t> rejected;  ///< Positions of the seeds that lie in no cell.
  std::int64_t unexpected = 0;  ///< Number of half lines ended by a velocity that is not finite.
  /// Number of seeds in a cell whose lines leave the domain before the end of the first step.
  std::int64_t leaveAtOnce = 0;

  const HalfLine* find(std::int64_t line) const {
    const std::int64_t at = line - 2 * firstSeed;
    return at < 0 || at >= static_cast<std::int64_t>(halves.size())
               ? nullptr
               : &halves[static_cast<std::size_t>(at)];
  }
};

/// Local. The rank that owns the seed of a line. Throws Error of kind Message if no rank does: the
/// line came from another rank.
[[nodiscard]] int ownerOfLine(const Shares& shares, std::int64_t line);

/// Collective. Sends the end of each line to the rank that owns its seed.
/// @param use  called on each rank with the ends of the lines of its seeds, in no particular order,
///             each of one of its lines; local, may throw
/// @throws Error on all ranks if one receives an end of another rank's line, or if `use` throws
void sendEnds(Transport& transport, const Shares& shares, const std::vector<LineEnd>& ends,
              const std::function<void(const std::vector<LineEnd>&)>& use);

/// Collective. Sends the end of each line to the rank that outputs it, and assigns positions in the
/// output.
/// @param join  whether to join the two halves of a seed to one line: the backward half in reverse
///              order, then the forward half
/// @param record  whether the points of lines were recorded; otherwise no line is output
/// @throws Error on all ranks if an end is missing
[[nodiscard]] LineTable makeLineTable(Transport& transport, const Shares& shares,
                                      const std::vector<LineEnd>& ends, bool forward, bool backward,
                                      bool join, bool record);

}  // namespace tributary
