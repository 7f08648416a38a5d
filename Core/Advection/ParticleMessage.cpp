#include "Tributary/Advection/ParticleMessage.h"

#include <cstring>

#include "Tributary/Error.h"

namespace tributary {
namespace {

/// The part of fixed size. Followed by three doubles for each known slope, then, if the particle is
/// seeking, by the best match.
struct Fixed {
  double x[3], target[3];
  double h, next, minimum, maximum, cellLength, speed, time, length;
  std::int64_t line;
  std::int32_t cell, steps, crossings;
  std::int8_t face;
  std::uint8_t stage;
  std::uint8_t status;
  std::uint8_t lastTry;
};
static_assert(sizeof(Fixed) == 136, "no padding travels");

/// How many slopes a later evaluation of this step will read.
int slopesNeeded(int stage, int stages) {
  return stage < stages ? stage : 0;
}

}  // namespace

void writeTraveller(Bytes& message, const Traveller& traveller, int stages) {
  const Particle& p = traveller.particle;
  Fixed fixed{};
  std::memcpy(fixed.x, p.x, sizeof fixed.x);
  std::memcpy(fixed.target, p.target, sizeof fixed.target);
  fixed.h = p.h;
  fixed.next = p.next;
  fixed.minimum = p.minimum;
  fixed.maximum = p.maximum;
  fixed.cellLength = p.cellLength;
  fixed.speed = p.speed;
  fixed.time = p.time;
  fixed.length = p.length;
  fixed.line = p.line;
  fixed.cell = p.cell;
  fixed.steps = p.steps;
  fixed.crossings = p.crossings;
  fixed.face = p.face;
  fixed.stage = p.stage;
  fixed.status = static_cast<std::uint8_t>(p.status);
  fixed.lastTry = p.lastTry;
  append(message, &fixed, sizeof fixed);
  for (int s = 0; s < slopesNeeded(p.stage, stages); ++s)
    append(message, p.k[s], 3 * sizeof(double));
  if (p.status == Status::Seeking) append(message, &traveller.best, sizeof traveller.best);
}

Traveller readTraveller(Reader& reader, int stages) {
  const auto fixed = reader.value<Fixed>();
  if (fixed.stage > stages || fixed.steps < 0 || fixed.crossings < 0 || fixed.line < 0 ||
      (fixed.status != static_cast<std::uint8_t>(Status::Active) &&
       fixed.status != static_cast<std::uint8_t>(Status::Seeking)))
    throw Error("malformed message: no particle can be in stage " + std::to_string(fixed.stage) +
                " and status " + std::to_string(fixed.status) +
                "; do all ranks run the same version of the program with the same settings?");
  Traveller traveller{};
  Particle& p = traveller.particle;
  std::memcpy(p.x, fixed.x, sizeof fixed.x);
  std::memcpy(p.target, fixed.target, sizeof fixed.target);
  p.h = fixed.h;
  p.next = fixed.next;
  p.minimum = fixed.minimum;
  p.maximum = fixed.maximum;
  p.cellLength = fixed.cellLength;
  p.speed = fixed.speed;
  p.time = fixed.time;
  p.length = fixed.length;
  p.line = fixed.line;
  p.cell = fixed.cell;
  p.steps = fixed.steps;
  p.crossings = fixed.crossings;
  p.face = fixed.face;
  p.stage = fixed.stage;
  p.status = static_cast<Status>(fixed.status);
  p.lastTry = fixed.lastTry != 0;
  for (int s = 0; s < slopesNeeded(p.stage, stages); ++s) {
    const auto slope = reader.raw(3 * sizeof(double));
    std::memcpy(p.k[s], slope.data(), slope.size());
  }
  if (p.status == Status::Seeking) traveller.best = reader.value<CellMatch>();
  return traveller;
}

}  // namespace tributary
