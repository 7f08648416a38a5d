// SPDX-License-Identifier: BSD-3-Clause
#include "FlowMap/MapCheckpoint.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Hash.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Rendezvous.h"

namespace tributary {
namespace {

/// A particle, which its seed identifies: it is the same wherever that seed is traced.
struct SavedParticle {
  std::array<double, 3> from;  ///< The position of the seed.
  std::array<double, 3> x;
  double time;
  std::int64_t reason;
};

/// A particle that was saved, or a seed that needs it.
struct Entry {
  SavedParticle particle;
  std::int64_t seed;  ///< On the rank that needs it; -1 for a particle that was saved.
};

using Key = std::array<std::uint64_t, 3>;

Key keyOf(const Entry& entry) {
  Key key;
  std::transform(entry.particle.from.begin(), entry.particle.from.end(), key.begin(),
                 coordinateBits);
  return key;
}

std::uint64_t hashOf(const Entry& entry) {
  std::uint64_t hash = 0;
  for (const std::uint64_t bits : keyOf(entry)) hash = scramble(hash ^ bits);
  return hash;
}

template <class List>
bool isFinite(const List& values) {
  return std::all_of(values.begin(), values.end(),
                     [](double value) { return std::isfinite(value); });
}

void check(const SavedParticle& particle) {
  // Places are those of points of the data, which need not be finite where no cell uses them.
  if (!std::isfinite(particle.time) || particle.reason < 0 ||
      particle.reason > static_cast<int>(Reason::OutOfTime))
    refuseMessage("a malformed particle of a flow map");
}

}  // namespace

Bytes saveMapSteps(const SavedMap& map) {
  Writer writer;
  writer.range(map.added);
  writer.range(std::vector<double>(map.passedOver.begin(), map.passedOver.end()));
  writer.value(map.grid.dimensions).value(map.grid.origin).value(map.grid.spacing);
  writer.value(map.grid.end);
  for (const bool isAlong : map.along) writer.value(std::uint8_t(isAlong));
  writer.value(map.distance);
  return writer.take();
}

SavedMap loadMapSteps(const Bytes& common) {
  Reader reader(common);
  SavedMap map;
  map.added = reader.range<double>();
  const std::vector<double> passedOver = reader.range<double>();
  map.passedOver.insert(passedOver.begin(), passedOver.end());
  map.grid.dimensions = reader.value<std::array<std::int64_t, 3>>();
  map.grid.origin = reader.value<std::array<double, 3>>();
  map.grid.spacing = reader.value<std::array<double, 3>>();
  map.grid.end = reader.value<std::array<double, 3>>();
  for (bool& isAlong : map.along) isAlong = reader.value<std::uint8_t>() != 0;
  map.distance = reader.value<double>();
  const bool isOrdered = std::adjacent_find(map.added.begin(), map.added.end(),
                                            std::greater_equal<>()) == map.added.end();
  if (!reader.atEnd() || map.added.empty() || !isOrdered || !isFinite(map.added) ||
      !isFinite(map.grid.origin) || !isFinite(map.grid.spacing) || !isFinite(map.grid.end) ||
      !std::isfinite(map.distance) ||
      *std::min_element(map.grid.dimensions.begin(), map.grid.dimensions.end()) < 1)
    refuseMessage("malformed steps or seeds of a flow map");
  return map;
}

Bytes saveParticles(const MapSeeds& seeds, const MapParticles& particles) {
  Writer writer;
  writer.reserve(index(seeds.count()) * sizeof(SavedParticle) + sizeof(std::uint64_t));
  writer.value(static_cast<std::uint64_t>(seeds.count()));
  for (std::int64_t seed = 0; seed < seeds.count(); ++seed) {
    const std::size_t at = index(seed);
    SavedParticle particle{
        {}, particles.x[at], particles.time[at], static_cast<std::int64_t>(particles.reasons[at])};
    seeds.position(seed, particle.from.data());
    writer.value(particle);
  }
  return writer.take();
}

MapParticles loadParticles(Transport& transport, const std::vector<Bytes>& parts,
                           const MapSeeds& seeds) {
  std::vector<Entry> entries;
  ErrorCollector errors;
  errors.attempt([&] {
    for (const Bytes& part : parts) {
      Reader reader(part);
      for (const SavedParticle& particle : reader.range<SavedParticle>()) {
        check(particle);
        entries.push_back({particle, -1});
      }
      if (!reader.atEnd()) refuseMessage("particles with bytes that belong to nothing");
    }
    for (std::int64_t seed = 0; seed < seeds.count(); ++seed) {
      entries.push_back({{}, seed});
      seeds.position(seed, entries.back().particle.from.data());
    }
  });
  // Ranks that output the same points have saved the same particles.
  const std::vector<Entry> found = rendezvous<Entry>(
      transport, errors, std::move(entries), hashOf,
      [](const Entry& a, const Entry& b) {
        return std::make_pair(keyOf(a), a.seed) < std::make_pair(keyOf(b), b.seed);
      },
      [](const Entry& a, const Entry& b) { return keyOf(a) == keyOf(b); },
      [](Span<Met<Entry>> group, auto&& send) {
        const Entry& saved = group[0].record;
        if (saved.seed >= 0)
          throw Error(
              "the checkpoint has no particle of a seed: the points of the data have moved");
        for (const Met<Entry>& one : group)
          if (one.record.seed >= 0) send(one.rank, {saved.particle, one.record.seed});
      });
  MapParticles particles;
  errors.attempt([&] {
    const std::size_t count = index(seeds.count());
    particles.resize(count);
    std::vector<bool> known(count, false);
    if (found.size() != count) refuseMessage("the number of particles differs from that of seeds");
    for (const Entry& entry : found) {
      const auto at = static_cast<std::size_t>(entry.seed);
      if (entry.seed < 0 || at >= count || known[at]) refuseMessage("two particles of one seed");
      check(entry.particle);
      known[at] = true;
      particles.x[at] = entry.particle.x;
      particles.time[at] = entry.particle.time;
      particles.reasons[at] = static_cast<Reason>(entry.particle.reason);
    }
  });
  errors.agree(transport);
  return particles;
}

}  // namespace tributary
