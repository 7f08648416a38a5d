// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/detail/ParticleMessage.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <limits>

#include "Tributary/Advection/detail/kernels/EventTest.h"
#include "Tributary/Base/Error.h"

namespace tributary::detail {
namespace {

/// The part of fixed size. Followed by three doubles for each known slope, then, if the particle
/// has crossed events, is at one or began at a time, by what it knows of these, and between events
/// by the values of fields, if it has any, then, if it is seeking, by the best match.
struct Fixed {
  double x[3], target[3];
  double h, next, minimum, maximum, cellLength, speed, time, length;
  std::int64_t line;
  std::int32_t cell, steps, crossings;
  std::int8_t face;
  std::uint8_t stage;
  std::uint8_t status;
  std::uint8_t flags;
};
static_assert(sizeof(Fixed) == 136, "no padding travels");

/// Flags of a particle.
enum : std::uint8_t { LastTry = 1, HasProgress = 2, IsAtEvent = 4, HasFields = 8 };

/// What travels of EventProgress, if a particle is at an event; otherwise only its beginning, the
/// values of fields and its counts do.
constexpr std::size_t EventBytes = offsetof(EventProgress, phase) + sizeof(EventPhase);
static_assert(EventBytes ==
                  (17 + 2 * MostEvents) * 8 + (1 + 3 * MostEvents) * 4 + 3 * 2 + MostEvents + 6,
              "no padding travels");

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

/// With events, parts of a step may begin at its end, with the first slope.
int slopesNeeded(int stage, int stages, int events) {
  return std::max(slopesNeeded(stage, stages), stage == stages && events > 0 ? 1 : 0);
}

bool hasProgress(const Particle& p) {
  if (!p.events) return false;
  const EventProgress& events = *p.events;
  return events.begun != 0 || std::any_of(std::begin(events.count), std::end(events.count),
                                          [](std::int32_t count) { return count != 0; });
}

bool hasFields(const Particle& p) {
  if (!p.events) return false;
  const EventProgress& events = *p.events;
  return std::any_of(std::begin(events.startField), std::end(events.startField),
                     [](double value) { return value != 0 || std::signbit(value); });
}

bool isCandidate(int candidate, int events) {
  return candidate >= 0 && candidate < EventCandidates && candidate % MostEvents < events;
}

/// Whether a set of candidates has none but those of a number of events.
bool isSetOf(int events, unsigned members) {
  return members >> std::min(16, EventImages * events) == 0;
}

/// What a particle can be about, in a stage and with a status in which it travels.
bool isPossible(const EventProgress& events, int count, int stage, Status status) {
  const bool isSearching = events.phase == EventPhase::Search || events.phase == EventPhase::Arrive;
  const bool isReturning =
      events.phase == EventPhase::Return || events.phase == EventPhase::Fallback;
  if (!isSearching && !(isReturning && status == Status::Active)) return false;
  if (events.phase == EventPhase::Arrive && events.best != events.candidate) return false;
  return stage > 0 && isCandidate(events.candidate, count) &&
         (events.best == -1 || isCandidate(events.best, count)) && isSetOf(count, events.handled) &&
         isSetOf(count, events.tried) && isSetOf(count, events.failed) && events.endBlock >= 0;
}

/// @param count  of the events of the trace, at least 1
void readEvents(Reader& reader, std::uint8_t flags, int count, int stage, Status status,
                EventProgress& events) {
  if (flags & IsAtEvent) {
    const auto bytes = reader.raw(EventBytes);
    std::memcpy(&events, bytes.data(), bytes.size());
    if (!isPossible(events, count, stage, status))
      refuseMessage("a particle in stage " + std::to_string(stage) + " at event " +
                    std::to_string(events.candidate) + " in phase " +
                    std::to_string(int(events.phase)));
  } else if (flags & HasProgress) {
    events.begun = reader.value<double>();
    const auto bytes = reader.raw(sizeof events.count);
    std::memcpy(events.count, bytes.data(), bytes.size());
  }
  if ((flags & HasFields) && !(flags & IsAtEvent)) {
    const auto bytes = reader.raw(sizeof events.startField);
    std::memcpy(events.startField, bytes.data(), bytes.size());
  }
  requireCounts(events.count, count);
}

}  // namespace

void requireCounts(const std::int32_t counts[MostEvents], int events) {
  std::int64_t all = 0;
  for (int e = 0; e < MostEvents; ++e) {
    if (counts[e] < 0 || (counts[e] > 0 && e >= events))
      refuseMessage("a particle with " + std::to_string(counts[e]) + " crossings of event " +
                    std::to_string(e));
    all += counts[e];
  }
  if (all >= std::numeric_limits<std::int32_t>::max() / 2)
    refuseMessage("a particle with " + std::to_string(all) + " crossings");
}

void writeMigratingParticle(Bytes& message, const MigratingParticle& migrating, int stages,
                            int events) {
  const Particle& p = migrating.particle;
  Fixed fixed{};
  copyState(p, fixed);
  fixed.status = static_cast<std::uint8_t>(p.status);
  fixed.flags =
      static_cast<std::uint8_t>((p.lastTry ? LastTry : 0) | (hasProgress(p) ? HasProgress : 0) |
                                (p.isAtEvent() ? IsAtEvent : 0) | (hasFields(p) ? HasFields : 0));
  append(message, &fixed, sizeof fixed);
  for (int s = 0; s < slopesNeeded(p.stage, stages, events); ++s)
    append(message, p.k[s], 3 * sizeof(double));
  if (p.isAtEvent()) {
    append(message, &*p.events, EventBytes);
  } else if (hasProgress(p)) {
    append(message, &p.events->begun, sizeof p.events->begun);
    append(message, p.events->count, sizeof p.events->count);
  }
  if (hasFields(p) && !p.isAtEvent())
    append(message, p.events->startField, sizeof p.events->startField);
  if (p.status == Status::Seeking) append(message, &migrating.best, sizeof migrating.best);
}

MigratingParticle readMigratingParticle(Reader& reader, int stages, int events) {
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
  p.lastTry = (fixed.flags & LastTry) != 0;
  for (int s = 0; s < slopesNeeded(p.stage, stages, events); ++s) {
    const auto slope = reader.raw(3 * sizeof(double));
    std::memcpy(p.k[s], slope.data(), slope.size());
  }
  if (events > 0)
    readEvents(reader, fixed.flags, events, p.stage, p.status, p.events.emplace());
  else if (fixed.flags & (HasProgress | IsAtEvent | HasFields))
    refuseMessage("a particle with events, where none are traced");
  if (p.status == Status::Seeking) migrating.best = reader.value<CellMatch>();
  return migrating;
}

}  // namespace tributary::detail
