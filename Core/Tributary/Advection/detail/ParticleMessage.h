// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "Tributary/Advection/Events.h"
#include "Tributary/Advection/FieldBlock.h"
#include "Tributary/Advection/Particle.h"
#include "Tributary/Base/Bytes.h"

namespace tributary::detail {

/// A particle on its way, and, while it seeks its cell, the best one met so far.
struct MigratingParticle {
  Particle particle;
  CellMatch best;
};

/// Throws Error unless a line can have these counts of crossings. @param events  of the trace
void requireCounts(const std::int32_t counts[MostEvents], int events);

/// Appends a particle to a message: the state that later operations read and no more (slopes of
/// stages to come, for instance, are left out).
/// @param stages  evaluations of the integrator's step that give slopes (see Stages)
/// @param events  the number of events of the trace
void writeMigratingParticle(Bytes& message, const MigratingParticle& migrating, int stages,
                            int events = 0);

/// Reads what writeMigratingParticle wrote, with the same stages and events. Throws Error when the
/// message is malformed: too short, or with a stage, status or number that no particle can have.
[[nodiscard]] MigratingParticle readMigratingParticle(Reader& reader, int stages, int events = 0);

}  // namespace tributary::detail
