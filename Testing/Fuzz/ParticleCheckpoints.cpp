// SPDX-License-Identifier: BSD-3-Clause
// The states of path tracers and of growing flow maps in checkpoints. The first byte of an input
// chooses, the next two are the length of the part that all ranks have, and the part of a rank
// follows.
#include <algorithm>
#include <array>
#include <utility>

#include "Common/FreshArray.h"
#include "FlowMap/MapCheckpoint.h"
#include "Harness.h"
#include "Paths/PathCheckpoint.h"
#include "Tributary/Transport/Loopback.h"

namespace tributary::fuzz {

namespace {

/// What ranks save: a part that is the same on all of them, and one of their own.
struct Saved {
  Bytes common, part;
};

void readPaths(Transport& transport, const Saved& saved) {
  const SavedSteps steps = loadSteps(saved.common);
  const SavedPaths paths = loadPaths(transport, saved.common, {saved.part});
  // What was accepted can be saved, and is the same then.
  const Saved again{saveCommon(steps, paths.history, paths.seeds),
                    savePart(paths.history, paths.seeds)};
  (void)loadPaths(transport, again.common, {again.part});
  (void)paths.history.seedsSoFar();
}

/// The seeds at four points of a plane, and those beside them.
GridSeeds fourPoints() {
  MapGrid grid;
  grid.dimensions = {2, 2, 1};
  grid.end = {1, 1, 0};
  const int extent[6] = {0, 1, 0, 1, 0, 0};
  return GridSeeds(grid, extent, {});
}

void readMap(Transport& transport, const Saved& saved) {
  (void)saveMapSteps(loadMapSteps(saved.common));
  (void)loadParticles(transport, {saved.part}, fourPoints());
}

constexpr void (*Kinds[])(Transport&, const Saved&) = {readPaths, readMap};

Seed seed(const std::string& name, std::uint8_t kind, const Saved& saved) {
  Bytes input = Writer().value(kind).value(static_cast<std::uint16_t>(saved.common.size())).take();
  append(input, saved.common.data(), saved.common.size());
  append(input, saved.part.data(), saved.part.size());
  return {name, input};
}

/// @param positionType  of VTK
PathPoints pointsOf(std::int64_t points, int positionType = VTK_FLOAT) {
  PathPoints segment;
  PointField position;
  position.kind = PointField::Kind::Position;
  position.name = "Points";
  position.type = positionType;
  position.components = 3;
  position.bytes = 3 * (positionType == VTK_FLOAT ? sizeof(float) : sizeof(double));
  PointField time = position;
  time.kind = PointField::Kind::Time;
  time.name = "SimulationTime";
  time.type = VTK_DOUBLE;
  time.components = 1;
  time.bytes = sizeof(double);
  PointField speed = position;
  speed.kind = PointField::Kind::Interpolated;
  speed.name = "speed";
  speed.type = VTK_FLOAT;
  speed.array = 0;
  speed.components = 1;
  speed.bytes = sizeof(float);
  segment.fields = {position, time, speed};
  segment.list.arrays.emplace_back();
  segment.list.arrays[0].name = "speed";
  segment.list.arrays[0].type = VTK_FLOAT;
  segment.list.arrays[0].components = 1;
  segment.list.arrays[0].componentNames = {"magnitude"};
  segment.list.dropped = {"gone"};
  for (const PointField& field : segment.fields) {
    segment.arrays.push_back(
        freshArrayOf(field.type, field.name.c_str(), field.components, points));
    segment.arrays.back()->Fill(0.5);
  }
  return segment;
}

/// Two particles at two steps, one of which crosses an event and ends there.
Saved savedPaths(bool areSeedsStatic) {
  PathHistory history;
  history.injections = {{0, 2}};
  history.particles = {{0, 0, 0, 0, 1.0}, {1, 1, 1, 0, 1.0}};
  for (int step = 0; step < 2; ++step) {
    PathSegment& segment = history.segments.emplace_back();
    static_cast<PathPoints&>(segment) = pointsOf(2);
    segment.progress.resize(2);
    segment.crossings = pointsOf(step, VTK_DOUBLE);
    for (int particle = 0; particle < 2; ++particle) {
      PathEntry& entry = segment.entries.emplace_back();
      entry.particle = entry.first = particle;
      entry.points = 1;
      entry.time = 1.0 + step;
    }
  }
  PathSegment& last = history.segments.back();
  last.entries.back().reason = Reason::Event;
  last.entries.back().event = 2;
  last.entries.back().target = 5;
  last.progress.back().length = 0.5;
  last.progress.back().count[2] = 1;
  PathEntry& crossing = last.crossings.entries.emplace_back();
  crossing.particle = crossing.points = 1;
  std::optional<PathSeeds> seeds;
  if (areSeedsStatic) seeds = PathSeeds{{{0, 0, {0, 0, 0}}, {1, 1, {1, 0, 0}}}, 2};
  const SavedSteps steps{{1.0, 2.0}, {1.5}};
  return {saveCommon(steps, history, seeds), savePart(history, seeds)};
}

Saved savedMap() {
  SavedMap map;
  map.added = {0.0, 1.0};
  map.passedOver = {0.5};
  map.grid.dimensions = {2, 2, 1};
  const GridSeeds seeds = fourPoints();
  MapParticles particles;
  particles.resize(static_cast<std::size_t>(seeds.count()));
  for (std::int64_t i = 0; i < seeds.count(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    seeds.position(i, particles.x[at].data());
    particles.time[at] = 1.0;
    particles.reasons[at] = i == 0 ? Reason::OutOfDomain : Reason::None;
  }
  return {saveMapSteps(map), saveParticles(seeds, particles)};
}

}  // namespace

void decode(Span<const std::byte> input) {
  Reader reader(input);
  const std::size_t kind = reader.value<std::uint8_t>() % std::size(Kinds);
  const std::size_t length = reader.value<std::uint16_t>();
  const auto bytes = [&](std::size_t count) {
    const Span<const std::byte> raw = reader.raw(std::min(count, reader.remaining()));
    return Bytes(raw.begin(), raw.end());
  };
  Saved saved;
  saved.common = bytes(length);
  saved.part = bytes(reader.remaining());
  const auto transport = makeLoopbackTransport();
  Kinds[kind](*transport, saved);
}

std::vector<Seed> seeds() {
  return {seed("paths", 0, savedPaths(false)), seed("paths-static", 0, savedPaths(true)),
          seed("map", 1, savedMap())};
}

}  // namespace tributary::fuzz
