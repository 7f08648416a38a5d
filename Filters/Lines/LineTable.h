// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Tributary/Collective/Shares.h"

#include "Tributary/Advection/Tracer.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// The places of the points of one half line in the output: point `index` at base + sign * index.
struct HalfLine {
  std::int64_t base = 0;
  std::int32_t points = 0;  ///< Recorded on all ranks.
  std::int8_t sign = 1;     ///< -1 for the backward half of a joined line.
  bool isOutput = false;    ///< Lines of fewer than two points are not.
  bool skipsSeed = false;   ///< The other half of a joined line has the seed.
  Reason reason = Reason::None;

  /// Place in the output, or -1 if the point is not output.
  std::int64_t place(std::int32_t index) const {
    if (!isOutput || index < 0 || index >= points || (skipsSeed && index == 0)) return -1;
    return base + sign * std::int64_t(index);
  }
};

/// A polyline of the output.
struct OutputLine {
  std::int64_t first = 0;  ///< Its first point.
  std::int64_t points = 0;
  std::int64_t origin = 0;  ///< The point of the line that is the seed, counted from `first`.
  std::int64_t seed = 0;    ///< Place of the seed in the order of all.
  Reason reason = Reason::None;
};

/// The lines that this rank outputs: those of its share of the seeds, by seed, forward before
/// backward.
struct LineTable {
  std::int64_t firstSeed = 0;
  std::vector<HalfLine> halves;  ///< [2 * (seed - firstSeed) + backward]
  std::vector<OutputLine> lines;
  std::int64_t points = 0;
  std::vector<std::int64_t> rejected;  ///< Places of the seeds that lie in no cell.
  std::int64_t unexpected = 0;         ///< Half lines that met a velocity that is not finite.

  const HalfLine* find(std::int64_t line) const {
    const std::int64_t at = line - 2 * firstSeed;
    return at < 0 || at >= static_cast<std::int64_t>(halves.size())
               ? nullptr
               : &halves[static_cast<std::size_t>(at)];
  }
};

/// Collective. Sends the end of each line to the rank that outputs it, and assigns places in the
/// output. Throws Error on all ranks if an end is missing.
/// @param join  makes one line of the two halves of a seed: backward half reversed, then forward.
[[nodiscard]] LineTable makeLineTable(Transport& transport, const Shares& shares,
                                      const std::vector<LineEnd>& ends, bool forward, bool backward,
                                      bool join);

}  // namespace tributary
