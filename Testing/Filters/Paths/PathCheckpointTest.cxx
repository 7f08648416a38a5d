// SPDX-License-Identifier: BSD-3-Clause
// Particles in a checkpoint: saved on some ranks, loaded on others, and damaged.
#include "Paths/PathCheckpoint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "Common/FreshArray.h"

#include "Support/World.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Shares.h"
#include "Tributary/Transport/Simulated.h"

namespace tributary {
namespace {

using testing::errorOf;

constexpr int Steps = 4;
constexpr std::int64_t StaticSeeds = 9;
const std::vector<PathInjection> Injections{{0, StaticSeeds}, {1, 5}, {3, StaticSeeds}};

SavedSteps steps() {
  return {{0, 0.5, 1.5, 2}, {1}};
}

/// A number that depends on a place in the state, not on ranks.
double number(std::int64_t particle, int step, std::int64_t i) {
  std::mt19937_64 random(static_cast<std::uint64_t>(particle * 1000003 + step * 1009 + i));
  return std::uniform_real_distribution<double>(0, 1)(random);
}

std::int64_t idOf(std::size_t injection, std::int64_t seed) {
  std::int64_t id = seed;
  for (std::size_t i = 0; i < injection; ++i) id += Injections[i].seeds;
  return id;
}

/// Makes the arrays of the fields, for the entries that are there.
void addArrays(const PathHistory& history, int step, std::int64_t points, PathPoints& segment) {
  for (const PointField& field : segment.fields)
    segment.arrays.push_back(
        freshArrayOf(field.type, field.name.c_str(), field.components, points));
  for (const PathEntry& entry : segment.entries)
    for (std::int64_t i = 0; i < entry.points; ++i)
      for (const auto& array : segment.arrays)
        for (int c = 0; c < array->GetNumberOfComponents(); ++c)
          array->SetComponent(
              entry.first + i, c,
              1000 * number(history.particles[index(entry.particle)].id, step, 3 * i + c));
}

/// The state of a rank. Every seventh seed lay in no cell, every fifth particle ends in its second
/// step, and no particle has points in step 2.
SavedPaths stateOf(int rank, int ranks) {
  SavedPaths paths;
  PathHistory& history = paths.history;
  history.injections = Injections;
  for (std::size_t n = 0; n < Injections.size(); ++n) {
    const Shares shares{Injections[n].seeds, ranks};
    const std::int64_t first = shares.first(rank);
    for (std::int64_t seed = first; seed < first + shares.count(rank); ++seed)
      if (const std::int64_t id = idOf(n, seed); id % 7 != 6)
        history.particles.push_back(
            {id, seed, 10 * seed, static_cast<std::int32_t>(n), number(id, 0, 0)});
  }
  for (int step = 0; step < Steps; ++step) {
    PathSegment& segment = history.segments.emplace_back();
    if (step == 2) continue;
    using Kind = PointField::Kind;
    segment.fields = {{Kind::Position, "Points", VTK_FLOAT, 3, 12, 0},
                      {Kind::Time, "SimulationTime", VTK_DOUBLE, 1, 8, 0},
                      {Kind::Interpolated, "height", VTK_SHORT, 2, 4, 0}};
    segment.list.arrays.resize(1);
    segment.list.arrays[0].name = "height";
    segment.list.arrays[0].type = VTK_SHORT;
    segment.list.arrays[0].components = 2;
    segment.list.arrays[0].componentNames = {"first", "second"};
    segment.list.arrays[0].isVectors = step == 1;
    segment.list.dropped = {"dropped"};
    segment.crossings.fields = {{Kind::Position, "Points", VTK_DOUBLE, 3, 24, 0},
                                {Kind::Time, "SimulationTime", VTK_DOUBLE, 1, 8, 0},
                                {Kind::Crossing, "EventId", VTK_INT, 1, 4, 0}};
    std::int64_t points = 0, crossings = 0;
    for (std::size_t p = 0; p < history.particles.size(); ++p) {
      const PathParticle& particle = history.particles[p];
      const std::int64_t age = step - Injections[index(particle.injection)].step;
      if (age < 0 || (age > 1 && particle.id % 5 == 0)) continue;
      PathEntry entry;
      entry.particle = static_cast<std::int64_t>(p);
      entry.first = points;
      entry.points = (particle.id + step) % 3;
      entry.time = number(particle.id, step, -1);
      entry.reason = age == 1 && particle.id % 5 == 0 ? Reason::OutOfDomain : Reason::None;
      if (age == 1 && particle.id % 10 == 0) {
        entry.reason = Reason::Event;
        entry.event = 1;
        entry.target = particle.id;
      }
      points += entry.points;
      segment.entries.push_back(entry);
      PathProgress& progress = segment.progress.emplace_back();
      progress.length = number(particle.id, step, -2);
      progress.count[1] = static_cast<std::int32_t>(particle.id + step);
      if ((particle.id + step) % 2 == 0) continue;
      PathEntry crossing;
      crossing.particle = static_cast<std::int64_t>(p);
      crossing.first = crossings;
      crossing.points = 1 + particle.id % 2;
      crossings += crossing.points;
      segment.crossings.entries.push_back(crossing);
    }
    addArrays(history, step, points, segment);
    addArrays(history, step + Steps, crossings, segment.crossings);
  }
  paths.seeds = PathSeeds{{}, StaticSeeds};
  const Shares shares{StaticSeeds, ranks};
  for (std::int64_t s = shares.first(rank); s < shares.first(rank + 1); ++s)
    paths.seeds->seeds.push_back({s, 10 * s, {number(s, 9, 0), number(s, 9, 1), 0}});
  return paths;
}

/// All that a state has, as text.
std::string describe(const SavedPaths& paths) {
  const PathHistory& history = paths.history;
  std::string text;
  const auto add = [&](auto value) { text += std::to_string(value) + " "; };
  for (const PathInjection& injection : history.injections) {
    add(injection.step);
    add(injection.seeds);
  }
  for (const PathParticle& p : history.particles) {
    for (const std::int64_t value : {p.id, p.seed, p.shownSeed, std::int64_t(p.injection)})
      add(value);
    add(p.injected);
  }
  const auto addPoints = [&](const PathPoints& segment) {
    text += "\nsegment ";
    for (const PointField& field : segment.fields) text += field.name + " ";
    for (const PointArray& array : segment.list.arrays) {
      text += array.name + (array.isVectors ? " vectors " : " ");
      for (const std::string& name : array.componentNames) text += name + " ";
    }
    for (const std::string& name : segment.list.dropped) text += name + " ";
    for (const PathEntry& entry : segment.entries) {
      text += "\nentry ";
      add(history.particles.at(index(entry.particle)).id);
      add(entry.points);
      add(static_cast<int>(entry.reason));
      add(int(entry.event));
      add(entry.target);
      add(entry.time);
      for (const auto& array : segment.arrays)
        for (std::int64_t i = 0; i < entry.points; ++i)
          for (int c = 0; c < array->GetNumberOfComponents(); ++c)
            add(array->GetComponent(entry.first + i, c));
    }
  };
  for (const PathSegment& segment : history.segments) {
    addPoints(segment);
    addPoints(segment.crossings);
    for (const PathProgress& progress : segment.progress) {
      add(progress.length);
      for (const std::int32_t count : progress.count) add(count);
    }
  }
  if (!paths.seeds) return text;
  text += "\nseeds ";
  add(paths.seeds->total);
  for (const PathSeed& seed : paths.seeds->seeds) {
    add(seed.place);
    add(seed.shown);
    for (const double x : seed.x) add(x);
  }
  return text;
}

/// A checkpoint of some ranks.
struct Saved {
  Bytes common;
  std::vector<Bytes> parts;
};

Saved saved(int ranks) {
  Saved result;
  for (int r = 0; r < ranks; ++r) {
    const SavedPaths paths = stateOf(r, ranks);
    result.parts.push_back(savePart(paths.history, paths.seeds));
    result.common = saveCommon(steps(), paths.history, paths.seeds);
  }
  return result;
}

/// Loads a checkpoint on each of some ranks, the parts in turns.
/// @return what each rank has, or its error
std::vector<std::string> loaded(const Saved& saved, int ranks,
                                std::vector<bool>* failed = nullptr) {
  std::vector<std::string> texts(static_cast<std::size_t>(ranks));
  std::vector<char> wrong(texts.size(), 0);
  VirtualTimeNetworkOptions options;
  options.ranks = ranks;
  makeVirtualTimeNetwork(options)->run([&](Transport& transport) {
    const auto rank = static_cast<std::size_t>(transport.rank());
    std::vector<Bytes> mine;
    for (std::size_t p = rank; p < saved.parts.size(); p += texts.size())
      mine.push_back(saved.parts[p]);
    const std::string error =
        errorOf([&] { texts[rank] = describe(loadPaths(transport, saved.common, mine)); });
    if (error.empty()) return;
    texts[rank] = error;
    wrong[rank] = 1;
  });
  if (failed) failed->assign(wrong.begin(), wrong.end());
  return texts;
}

TEST(PathCheckpoint, IsLoadedOnAnyNumberOfRanks) {
  for (const int before : {1, 2, 3, 4, 8, 20}) {
    for (const int after : {1, 2, 3, 4, 8, 20}) {
      const std::vector<std::string> found = loaded(saved(before), after);
      for (int r = 0; r < after; ++r)
        EXPECT_EQ(found[static_cast<std::size_t>(r)], describe(stateOf(r, after)))
            << "from " << before << " to " << after << " ranks, on rank " << r;
    }
  }
}

TEST(PathCheckpoint, TellsItsSteps) {
  const SavedSteps found = loadSteps(saved(1).common);
  EXPECT_EQ(found.added, steps().added);
  EXPECT_EQ(found.passedOver, steps().passedOver);
}

TEST(PathCheckpoint, RefusesParticlesThatAreThereTwice) {
  Saved twice = saved(2);
  twice.parts.push_back(twice.parts.front());
  EXPECT_NE(loaded(twice, 2)[0].find("a particle twice"), std::string::npos);
  Saved fewer = saved(3);
  fewer.parts.pop_back();
  EXPECT_NE(loaded(fewer, 2)[0].find("seeds that are missing"), std::string::npos);
}

/// Every word is changed: an error on all ranks or on none, and no crash.
TEST(PathCheckpoint, WithDamageIsRefusedOnAllRanks) {
  const Saved right = saved(2);
  std::map<std::string, int> errors;
  for (const bool isCommon : {true, false}) {
    const std::size_t size = isCommon ? right.common.size() : right.parts[1].size();
    for (std::size_t at = 0; at + 8 <= size; at += isCommon ? 1 : 4) {
      for (const std::uint64_t add :
           {std::uint64_t(1), ~std::uint64_t(0), std::uint64_t(1) << 40, std::uint64_t(1) << 63}) {
        Saved damaged = right;
        std::byte* const word = (isCommon ? damaged.common : damaged.parts[1]).data() + at;
        std::uint64_t value;
        std::memcpy(&value, word, sizeof value);
        value += add;
        std::memcpy(word, &value, sizeof value);
        std::vector<bool> failed;
        const std::vector<std::string> found = loaded(damaged, 2, &failed);
        ASSERT_EQ(failed[0], failed[1]) << at << ": " << found[0] << "\n" << found[1];
        if (failed[0]) ++errors[found[1].substr(found[1].find(": ") + 2)];
      }
    }
    for (std::size_t less : {std::size_t(1), size / 2, size}) {
      Saved damaged = right;
      Bytes& bytes = isCommon ? damaged.common : damaged.parts[1];
      bytes.resize(size - less);
      std::vector<bool> failed;
      static_cast<void>(loaded(damaged, 2, &failed));
      EXPECT_TRUE(failed[0] && failed[1]) << less << " bytes less";
    }
  }
  std::string all;
  for (const auto& [text, count] : errors) all += text + "\n";
  for (const char* const phrase :
       {"a field of paths of an unknown type", "components", "a field of paths of no array",
        "points of paths without positions", "malformed steps or injections",
        "a particle of no seed", "the points of a particle that is not there",
        "before its injection", "a seed of no place", "too few points",
        "bytes that belong to nothing", "a particle twice", "bytes expected",
        "a particle that event", "crossings of particles that are not there",
        "crossings and length"})
    EXPECT_NE(all.find(phrase), std::string::npos) << "nothing was refused with: " << phrase << "\n"
                                                   << all;
}

}  // namespace
}  // namespace tributary
