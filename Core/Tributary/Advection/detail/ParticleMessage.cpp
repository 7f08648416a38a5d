// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/detail/ParticleMessage.h"

#include <cstring>
#include <limits>

#include "Tributary/Base/Error.h"

namespace tributary::detail {
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

/// Copies what a particle and its message hold alike, either way.
template <class From, class To>
void copyState(const From& from, To& to) {
  std::memcpy(to.x, from.x, 3 * sizeof(double));
  std::memcpy(to.target, from.target, 3 * sizeof(double));
  to.h = from.h;
  to.next = from.next;
  to.minimum = from.minimum;
  to.maximum = from.maximum;
  to.cellLength = from.cellLength;
  to.speed = from.speed;
  to.time = from.time;
  to.length = from.length;
  to.line = from.line;
  to.cell = from.cell;
  to.steps = from.steps;
  to.crossings = from.crossings;
  to.face = from.face;
  to.stage = from.stage;
}

/// How many slopes a later evaluation of this step will read.
int slopesNeeded(int stage, int stages) {
  return stage < stages ? stage : 0;
}

}  // namespace

void writeMigratingParticle(Bytes& message, const MigratingParticle& migrating, int stages) {
  const Particle& p = migrating.particle;
  Fixed fixed{};
  copyState(p, fixed);
  fixed.status = static_cast<std::uint8_t>(p.status);
  fixed.lastTry = p.lastTry;
  append(message, &fixed, sizeof fixed);
  for (int s = 0; s < slopesNeeded(p.stage, stages); ++s)
    append(message, p.k[s], 3 * sizeof(double));
  if (p.status == Status::Seeking) append(message, &migrating.best, sizeof migrating.best);
}

MigratingParticle readMigratingParticle(Reader& reader, int stages) {
  const auto fixed = reader.value<Fixed>();
  if (fixed.stage > stages || fixed.steps < 0 ||
      fixed.steps == std::numeric_limits<std::int32_t>::max() || fixed.crossings < 0 ||
      fixed.line < 0 ||
      (fixed.status != static_cast<std::uint8_t>(Status::Active) &&
       fixed.status != static_cast<std::uint8_t>(Status::Seeking)))
    refuseMessage("a particle cannot be in stage " + std::to_string(fixed.stage) + " and status " +
                  std::to_string(fixed.status));
  MigratingParticle migrating{};
  Particle& p = migrating.particle;
  copyState(fixed, p);
  p.status = static_cast<Status>(fixed.status);
  p.lastTry = fixed.lastTry != 0;
  for (int s = 0; s < slopesNeeded(p.stage, stages); ++s) {
    const auto slope = reader.raw(3 * sizeof(double));
    std::memcpy(p.k[s], slope.data(), slope.size());
  }
  if (p.status == Status::Seeking) migrating.best = reader.value<CellMatch>();
  return migrating;
}

}  // namespace tributary::detail
