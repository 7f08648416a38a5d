#pragma once

#include "Tributary/Advection/FieldBlock.h"
#include "Tributary/Advection/Particle.h"
#include "Tributary/Bytes.h"

namespace tributary {

/// A particle on its way, and, while it seeks its cell, the best one met so far.
struct Traveller {
  Particle particle;
  CellMatch best;
};

/// Appends a particle to a message: the state that later operations read and no more (slopes of
/// stages to come, for instance, are left out).
/// @param stages  evaluations of the integrator's step that give slopes (see kStages)
void writeTraveller(Bytes& message, const Traveller& traveller, int stages);

/// Reads what writeTraveller wrote. Throws Error when the message is malformed: too short, or with
/// a stage, status or number that no particle can have.
Traveller readTraveller(Reader& reader, int stages);

}  // namespace tributary
