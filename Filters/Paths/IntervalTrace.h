// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "Common/RunContext.h"
#include "Lines/DomainFromVTK.h"

#include "Tributary/Advection/Tracer.h"
#include "Tributary/Collective/Shares.h"
#include "Tributary/Exchange/ExchangeSetting.h"

namespace tributary {

// What filters need that trace particles through one interval between two steps after the other.

/// What AutoTune has chosen.
struct TuningChoice {
  ExchangeSetting exchange;
  std::size_t trials = 0;  ///< Since they were last reported.
};

/// Collective. Applies the choice of AutoTune to `options`, after trials if there is none.
/// @param isOn  whether AutoTune is on; if not, the choice is removed
/// @return false after an abort
[[nodiscard]] bool tuneInterval(const RunContext& context, bool isOn, const FlowDomain& flow,
                                const std::vector<Seed>& seeds, TraceOptions& options,
                                std::optional<TuningChoice>& choice);

/// Local. The end of an interval for one step alone, in which particles are only located.
[[nodiscard]] double afterStep(double time);

/// Local. Ranges of ids of particles for a trace: rank r has some of those in
/// [r * most, (r + 1) * most).
/// @param most  the largest number of particles of a rank
[[nodiscard]] Shares idsOfParticles(std::int64_t most, int ranks);

/// Local. The ends of this rank's particles, ordered by their ids. Throws Error unless there is one
/// of each.
/// @param ends  as sendEnds() passes them
/// @param first  the id of the first particle of this rank
/// @param count  the number of particles of this rank
[[nodiscard]] std::vector<LineEnd> inOrder(const std::vector<LineEnd>& ends, std::int64_t first,
                                           std::size_t count);

}  // namespace tributary
