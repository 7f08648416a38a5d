// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/detail/ParticleMessage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstring>

#include "Support/World.h"

namespace tributary::testing {

using namespace detail;
namespace {

MigratingParticle sample(int stage, Status status) {
  MigratingParticle t{};
  Particle& p = t.particle;
  for (int a = 0; a < 3; ++a) {
    p.x[a] = 1.1 * a + 0.3;
    p.target[a] = 2.7 * a - 1;
    for (int s = 0; s < 6; ++s) p.k[s][a] = s + 0.1 * a;
  }
  p.h = -0.25;
  p.next = 0.5;
  p.minimum = 0.01;
  p.maximum = 0.7;
  p.cellLength = 1.7;
  p.speed = 3;
  p.time = -9;
  p.length = 11;
  p.line = 123456789012345;
  p.cell = 77;
  p.steps = 12;
  p.crossings = 3;
  p.face = 4;
  p.stage = std::uint8_t(stage);
  p.status = status;
  p.lastTry = true;
  t.best.violation = 0.5;
  t.best.block = 9;
  t.best.cell = 8;
  return t;
}

TEST(ParticleMessage, CarriesWhatTheNextEvaluationsRead) {
  constexpr int Stages = 6;
  for (int stage = 0; stage <= Stages; ++stage)
    for (const Status status : {Status::Active, Status::Seeking}) {
      const MigratingParticle sent = sample(stage, status);
      Bytes bytes;
      writeMigratingParticle(bytes, sent, Stages);
      writeMigratingParticle(bytes, sent, Stages);
      Reader reader(bytes);
      static_cast<void>(readMigratingParticle(reader, Stages));  // the second one begins at its end
      const MigratingParticle got = readMigratingParticle(reader, Stages);
      EXPECT_TRUE(reader.atEnd());
      const Particle &a = sent.particle, &b = got.particle;
      EXPECT_EQ(std::memcmp(a.x, b.x, 24), 0);
      EXPECT_EQ(std::memcmp(a.target, b.target, 24), 0);
      for (int s = 0; s < stage && stage < Stages; ++s)
        EXPECT_EQ(std::memcmp(a.k[s], b.k[s], 24), 0);
      EXPECT_EQ(std::make_tuple(a.h, a.next, a.minimum, a.maximum, a.cellLength, a.speed, a.time,
                                a.length, a.line, a.cell, a.steps, a.crossings, a.face, a.stage,
                                a.status, a.lastTry),
                std::make_tuple(b.h, b.next, b.minimum, b.maximum, b.cellLength, b.speed, b.time,
                                b.length, b.line, b.cell, b.steps, b.crossings, b.face, b.stage,
                                b.status, b.lastTry));
      if (status == Status::Seeking) {
        EXPECT_EQ(got.best.block, 9);
      }
    }
}

/// The sample at an event of its step.
MigratingParticle sampleAtEvent(int stage, Status status) {
  MigratingParticle t = sample(stage, status);
  EventProgress& e = t.particle.events.emplace();
  e.fullStep = -0.5;
  for (int a = 0; a < 3; ++a) {
    e.end[a] = 3.3 * a;
    e.slope[a] = 0.2 * a - 0.1;
    e.startField[a] = 0.7 * a - 0.6;
    e.endField[a] = 0.9 * a + 0.1;
  }
  e.speed = 7;
  e.cellLength = 1.5;
  e.low = -0.1;
  e.lowValue = -2;
  e.high = -0.4;
  e.highValue = 5;
  e.bestStep = -0.3;
  e.endBlock = 6;
  e.endCell = 55;
  for (int n = 0; n < 2; ++n) e.count[n] = 10 * n + 3;
  e.handled = 0x8001;
  e.tried = 0x4002;
  e.failed = 0x2004;
  e.candidate = 9;
  e.best = -1;
  e.lastSide = -1;
  e.trials = 3;
  e.phase = EventPhase::Search;
  return t;
}

MigratingParticle sendAndRead(const MigratingParticle& sent, int stages, int events) {
  Bytes bytes;
  writeMigratingParticle(bytes, sent, stages, events);
  Reader reader(bytes);
  const MigratingParticle got = readMigratingParticle(reader, stages, events);
  EXPECT_TRUE(reader.atEnd());
  return got;
}

TEST(ParticleMessage, CarriesTheStateOfTheSearchForAnEvent) {
  constexpr int Stages = 4;
  for (int stage = 1; stage <= Stages; ++stage)
    for (const Status status : {Status::Active, Status::Seeking}) {
      const MigratingParticle sent = sampleAtEvent(stage, status);
      const MigratingParticle got = sendAndRead(sent, Stages, 2);
      const EventProgress &a = *sent.particle.events, &b = *got.particle.events;
      EXPECT_EQ(std::memcmp(&a, &b, offsetof(EventProgress, phase) + 1), 0);
      // Parts of the step begin with the first slope.
      EXPECT_EQ(std::memcmp(sent.particle.k[0], got.particle.k[0], 24), 0);
      if (status == Status::Seeking) {
        EXPECT_EQ(got.best.block, 9);
      }
    }
  // So does the time at which the line began, without a crossing.
  MigratingParticle late = sample(1, Status::Active);
  late.particle.events.emplace().begun = 7.25;
  EXPECT_EQ(sendAndRead(late, Stages, 2).particle.events->begun, 7.25);
  // At the end of a step that is at no event yet, the first slope travels, too.
  MigratingParticle ending = sample(Stages, Status::Active);
  EXPECT_EQ(std::memcmp(ending.particle.k[0], sendAndRead(ending, Stages, 2).particle.k[0], 24), 0);
  // Between steps, only the numbers of crossings and the values of fields travel.
  MigratingParticle sent = sampleAtEvent(1, Status::Active);
  sent.particle.events->phase = EventPhase::None;
  const MigratingParticle got = sendAndRead(sent, Stages, 2);
  EXPECT_FALSE(got.particle.isAtEvent());
  EXPECT_EQ(got.particle.events->endBlock, 0);
  for (int n = 0; n < MostEvents; ++n)
    EXPECT_EQ(got.particle.events->count[n], n < 2 ? 10 * n + 3 : 0);
  const double* const fields = sent.particle.events->startField;
  EXPECT_EQ(std::memcmp(got.particle.events->startField, fields, sizeof(double) * MostEvents), 0);
  // Also without crossings, if a field is not a number, and beside a search.
  MigratingParticle uncrossed = sample(2, Status::Seeking);
  uncrossed.particle.events.emplace().startField[MostEvents - 1] = std::nan("");
  const MigratingParticle arrived = sendAndRead(uncrossed, Stages, 2);
  EXPECT_TRUE(std::isnan(arrived.particle.events->startField[MostEvents - 1]));
  EXPECT_EQ(arrived.best.block, 9);
  // Every bit: also a zero below zero.
  uncrossed.particle.events->startField[MostEvents - 1] = -0.0;
  EXPECT_TRUE(
      std::signbit(sendAndRead(uncrossed, Stages, 2).particle.events->startField[MostEvents - 1]));
}

TEST(ParticleMessage, RefusesASearchForAnEventThatIsNone) {
  const auto read = [](const MigratingParticle& t, int events) {
    return errorOf([&] { static_cast<void>(sendAndRead(t, 4, events)); });
  };
  EXPECT_EQ(read(sampleAtEvent(2, Status::Active), 2), "");
  EXPECT_NE(read(sampleAtEvent(2, Status::Active), 1), "");  // candidate 9 is event 1
  EXPECT_NE(read(sampleAtEvent(2, Status::Active), 0), "");
  EXPECT_NE(read(sampleAtEvent(0, Status::Active), 2), "");
  const auto spoiled = [&](auto&& spoil) {
    MigratingParticle t = sampleAtEvent(2, Status::Active);
    spoil(*t.particle.events);
    return read(t, 2);
  };
  EXPECT_NE(spoiled([](EventProgress& e) { e.candidate = 64; }), "");
  EXPECT_NE(spoiled([](EventProgress& e) { e.candidate = -1; }), "");
  EXPECT_NE(spoiled([](EventProgress& e) { e.best = 64; }), "");
  EXPECT_NE(spoiled([](EventProgress& e) { e.best = -2; }), "");
  EXPECT_NE(spoiled([](EventProgress& e) { e.endBlock = -1; }), "");
  EXPECT_NE(spoiled([](EventProgress& e) { e.count[1] = -1; }), "");
  EXPECT_NE(spoiled([](EventProgress& e) { e.count[1] = 0x7fffffff; }), "");
  EXPECT_NE(spoiled([](EventProgress& e) { e.count[2] = 1; }), "");  // there are two events
  EXPECT_NE(spoiled([](EventProgress& e) { e.best = 10; }), "");
  EXPECT_EQ(spoiled([](EventProgress& e) { e.best = 8; }), "");
  EXPECT_NE(spoiled([](EventProgress& e) { e.phase = EventPhase::Arrive; }), "");  // best is -1
  // One event has at most 8 candidates.
  const auto spoiledOfOne = [&](auto&& spoil) {
    MigratingParticle t = sampleAtEvent(2, Status::Active);
    EventProgress& e = *t.particle.events;
    e.candidate = 8;
    e.count[1] = 0;
    e.handled = e.tried = e.failed = 0x80;
    spoil(e);
    return read(t, 1);
  };
  EXPECT_EQ(spoiledOfOne([](EventProgress&) {}), "");
  EXPECT_NE(spoiledOfOne([](EventProgress& e) { e.handled = 0x100; }), "");
  EXPECT_NE(spoiledOfOne([](EventProgress& e) { e.tried = 0x100; }), "");
  EXPECT_NE(spoiledOfOne([](EventProgress& e) { e.failed = 0x100; }), "");
  // A particle that goes on from the end of its step knows its cell.
  for (const EventPhase phase : {EventPhase::Return, EventPhase::Fallback}) {
    MigratingParticle t = sampleAtEvent(2, Status::Active);
    t.particle.events->phase = phase;
    EXPECT_EQ(read(t, 2), "");
    t.particle.status = Status::Seeking;
    EXPECT_NE(read(t, 2), "");
  }
  EXPECT_NE(spoiled([](EventProgress& e) { e.phase = EventPhase(5); }), "");
  MigratingParticle withFields = sample(2, Status::Active);
  withFields.particle.events.emplace().startField[0] = 1;
  EXPECT_EQ(read(withFields, 1), "");
  EXPECT_NE(read(withFields, 0), "");
}

TEST(ParticleMessage, RefusesWhatNoParticleCanBe) {
  Bytes good;
  writeMigratingParticle(good, sample(3, Status::Seeking), 4);
  const auto read = [](Bytes bytes) {
    return errorOf([&] {
      Reader reader(bytes);
      return readMigratingParticle(reader, 4);
    });
  };
  EXPECT_EQ(read(good), "");
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_NE(read(Bytes(good.begin(), good.begin() + std::ptrdiff_t(length))), "") << length;
  // Stage, status, steps: whatever a byte becomes, reading either fails or stays in the message.
  for (std::size_t at = 0; at < good.size(); ++at)
    for (const int value : {0, 5, 127, 255}) {
      Bytes bad = good;
      bad[at] = std::byte(value);
      read(bad);
    }
  Bytes stage = good;
  stage[133] = std::byte(5);
  EXPECT_NE(read(stage), "");
  Bytes status = good;
  status[134] = std::byte(2);
  EXPECT_NE(read(status), "");
}

}  // namespace
}  // namespace tributary::testing
