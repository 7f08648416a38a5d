// SPDX-License-Identifier: BSD-3-Clause
// Particles of a flow map in a checkpoint: saved on some ranks, loaded on others, and damaged.
#include "FlowMap/MapCheckpoint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "Support/World.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Transport/Simulated.h"

namespace tributary {
namespace {

using testing::errorOf;

MapGrid grid() {
  MapGrid grid;
  grid.dimensions = {7, 3, 2};
  grid.spacing = {0.5, 0.25, 1};
  grid.end = {3, 0.5, 1};
  return grid;
}

/// A slab of the grid for each rank, as VTK cuts extents: neighbors share points. There are seeds
/// beyond the sides along x.
GridSeeds seedsOf(int rank, int ranks) {
  const int first = std::min(rank * 6 / ranks, 6), last = std::min((rank + 1) * 6 / ranks, 6);
  const int none[6] = {0, -1, 0, -1, 0, -1}, extent[6] = {first, last, 0, 2, 0, 1};
  return {grid(), first == last ? none : extent, {true, false, false}};
}

/// The particles of seeds: functions of their positions.
MapParticles particlesOf(const GridSeeds& seeds) {
  MapParticles particles;
  particles.resize(index(seeds.count()));
  for (std::int64_t seed = 0; seed < seeds.count(); ++seed) {
    double x[3];
    seeds.position(seed, x);
    const double key = x[0] + 10 * x[1] + 100 * x[2];
    particles.x[index(seed)] = {key, key / 3, -key};
    particles.time[index(seed)] = key / 7;
    particles.reasons[index(seed)] = static_cast<Reason>(static_cast<int>(2 * key + 8) % 8);
  }
  return particles;
}

std::string describe(const MapParticles& particles) {
  std::string text;
  for (std::size_t i = 0; i < particles.x.size(); ++i) {
    for (const double value : particles.x[i]) text += std::to_string(value) + " ";
    text += std::to_string(particles.time[i]) + " ";
    text += std::to_string(static_cast<int>(particles.reasons[i])) + "\n";
  }
  return text;
}

std::vector<Bytes> saved(int ranks) {
  std::vector<Bytes> parts;
  for (int rank = 0; rank < ranks; ++rank) {
    const GridSeeds seeds = seedsOf(rank, ranks);
    parts.push_back(saveParticles(seeds, particlesOf(seeds)));
  }
  return parts;
}

/// What each rank has loaded, or its error.
std::vector<std::string> loaded(const std::vector<Bytes>& parts, int ranks,
                                std::vector<char>* failed = nullptr) {
  std::vector<std::string> texts(index(ranks));
  std::vector<char> wrong(texts.size(), 0);
  VirtualTimeNetworkOptions options;
  options.ranks = ranks;
  makeVirtualTimeNetwork(options)->run([&](Transport& transport) {
    const std::size_t rank = index(transport.rank());
    std::vector<Bytes> mine;
    for (std::size_t p = rank; p < parts.size(); p += texts.size()) mine.push_back(parts[p]);
    const std::string error = errorOf([&] {
      texts[rank] =
          describe(loadParticles(transport, mine, seedsOf(transport.rank(), transport.size())));
    });
    if (error.empty()) return;
    texts[rank] = error;
    wrong[rank] = 1;
  });
  if (failed) *failed = wrong;
  return texts;
}

TEST(MapCheckpoint, IsLoadedOnAnyNumberOfRanks) {
  for (const int before : {1, 2, 3, 8})
    for (const int after : {1, 2, 5, 8}) {
      const std::vector<std::string> found = loaded(saved(before), after);
      for (int rank = 0; rank < after; ++rank)
        EXPECT_EQ(found[index(rank)], describe(particlesOf(seedsOf(rank, after))))
            << "from " << before << " to " << after << " ranks, on rank " << rank;
    }
}

TEST(MapCheckpoint, TellsItsStepsAndSeeds) {
  SavedMap map;
  map.added = {0, 0.5, 2};
  map.passedOver = {1};
  map.grid = grid();
  map.along = {true, false, true};
  map.distance = 0.25;
  const Bytes bytes = saveMapSteps(map);
  const SavedMap found = loadMapSteps(bytes);
  EXPECT_EQ(found.added, map.added);
  EXPECT_EQ(found.passedOver, map.passedOver);
  EXPECT_EQ(found.grid.dimensions, map.grid.dimensions);
  EXPECT_EQ(found.grid.spacing, map.grid.spacing);
  EXPECT_EQ(found.along, map.along);
  EXPECT_EQ(found.distance, map.distance);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(static_cast<void>(loadMapSteps(
                     Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)))),
                 Error);
  for (const std::vector<double>& wrong :
       {std::vector<double>{}, std::vector<double>{1, 1}, std::vector<double>{2, 1}}) {
    map.added = wrong;
    EXPECT_THROW(static_cast<void>(loadMapSteps(saveMapSteps(map))), Error);
  }
}

/// Every word is changed: an error on all ranks or on none, and no crash.
TEST(MapCheckpoint, WithDamageIsRefusedOnAllRanks) {
  const std::vector<Bytes> right = saved(2);
  std::map<std::string, int> errors;
  const std::size_t size = right[1].size();
  for (std::size_t at = 0; at + 8 <= size; at += 8)
    for (const std::uint64_t add : {std::uint64_t(1), ~std::uint64_t(0), std::uint64_t(1) << 62}) {
      std::vector<Bytes> damaged = right;
      std::uint64_t value;
      std::memcpy(&value, damaged[1].data() + at, sizeof value);
      value += add;
      std::memcpy(damaged[1].data() + at, &value, sizeof value);
      std::vector<char> failed;
      const std::vector<std::string> found = loaded(damaged, 2, &failed);
      ASSERT_EQ(failed[0], failed[1]) << at << ": " << found[0] << "\n" << found[1];
      if (failed[0]) ++errors[found[1].substr(found[1].find(": ") + 2)];
    }
  std::vector<Bytes> fewer = right;
  fewer.pop_back();
  for (const std::string& error : loaded(fewer, 3)) ++errors[error];
  std::string all;
  for (const auto& [text, count] : errors) all += text + "\n";
  for (const char* const phrase : {"a malformed particle", "no particle of a seed", "bytes"})
    EXPECT_NE(all.find(phrase), std::string::npos) << "nothing was refused with: " << phrase << "\n"
                                                   << all;
}

}  // namespace
}  // namespace tributary
