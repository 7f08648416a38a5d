// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/detail/ParticleMessage.h"

#include <gtest/gtest.h>

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
