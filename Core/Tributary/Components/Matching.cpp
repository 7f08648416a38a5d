// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Components/Matching.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Hash.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Records.h"
#include "Tributary/Collective/Rendezvous.h"

namespace tributary {
namespace {

/// Two chains of hashing that have nothing in common.
class Mixer {
 public:
  /// @param kind  keeps keys made of different things apart
  explicit Mixer(std::uint64_t kind) : key_{kind, ~kind} {}
  void add(std::uint64_t value) {
    key_.high = scramble(key_.high ^ value);
    key_.low = scramble(key_.low + (value ^ 0x5851f42d4c957f2dull));
  }
  EntityKey key() const { return key_; }

 private:
  EntityKey key_;
};

/// An entity of a block.
struct Holder {
  EntityKey key;
  BlockId block;
  std::int64_t entity;
};

struct Found {
  BlockId block;  // who asked
  Match match;
};

Found found(const Holder& mine, const Holder& other) {
  return {mine.block, {mine.entity, other.block, other.entity}};
}

}  // namespace

EntityKey keyOfPoint(std::int64_t globalId) {
  Mixer mixer(1);
  mixer.add(static_cast<std::uint64_t>(globalId));
  return mixer.key();
}

EntityKey keyOfPoint(const double coordinates[3]) {
  Mixer mixer(2);
  for (int axis = 0; axis < 3; ++axis) mixer.add(coordinateBits(coordinates[axis]));
  return mixer.key();
}

EntityKey keyOfStructured(std::uint64_t grid, std::int64_t i, std::int64_t j, std::int64_t k,
                          std::int64_t kind) {
  Mixer mixer(3);
  mixer.add(grid);
  for (const std::int64_t n : {i, j, k, kind}) mixer.add(static_cast<std::uint64_t>(n));
  return mixer.key();
}

EntityKey keyOfEntity(Span<EntityKey> points) {
  std::sort(points.begin(), points.end());
  Mixer mixer(4);
  for (const EntityKey& point : points) {
    mixer.add(point.high);
    mixer.add(point.low);
  }
  return mixer.key();
}

std::vector<std::vector<Match>> matchEntities(Transport& transport, const Assignment& assignment,
                                              const std::vector<std::vector<EntityKey>>& keys) {
  const BlockId first = assignment.first(transport.rank());
  std::vector<Holder> mine;
  collectively(transport, [&] {
    if (keys.size() != index(assignment.count(transport.rank())))
      throw Error("matching: keys of " + std::to_string(keys.size()) + " blocks given for " +
                  std::to_string(assignment.count(transport.rank())) +
                  " local blocks; pass the keys of each block");
    std::size_t entities = 0;
    for (const auto& block : keys) entities += block.size();
    mine.reserve(entities);
    for (std::size_t b = 0; b < keys.size(); ++b)
      for (std::size_t e = 0; e < keys[b].size(); ++e)
        mine.push_back({keys[b][e], first + static_cast<BlockId>(b), static_cast<std::int64_t>(e)});
  });
  const std::vector<Found> answers = rendezvous<Found>(
      transport, std::move(mine), [](const Holder& h) { return h.key.high; },
      [](const Holder& a, const Holder& b) {
        if (a.key != b.key) return a.key < b.key;
        return a.block != b.block ? a.block < b.block : a.entity < b.entity;
      },
      [](const Holder& a, const Holder& b) { return a.key == b.key; },
      [&](Span<Met<Holder>> group, auto&& send) {
        for (const auto& holder : group) {
          if (assignment.exists(holder.record.block) &&
              assignment.rankOf(holder.record.block) == holder.rank) {
            continue;
          }
          refuseMessage("an entity of block " + std::to_string(holder.record.block) +
                        " from rank " + std::to_string(holder.rank));
        }
        for (std::size_t i = 1; i < group.size(); ++i) {
          send(group[0].rank, found(group[0].record, group[i].record));
          send(group[i].rank, found(group[i].record, group[0].record));
        }
      });

  std::vector<std::vector<Match>> matches;
  collectively(transport, [&] {
    matches.resize(keys.size());
    for (const Found& answer : answers) {
      const std::uint64_t b = offsetOf(answer.block, first);
      if (b >= keys.size() || answer.match.local < 0 ||
          static_cast<std::size_t>(answer.match.local) >= keys[b].size() ||
          !assignment.exists(answer.match.block) || answer.match.remote < 0) {
        refuseMessage("a match of entity " + std::to_string(answer.match.local) + " of block " +
                      std::to_string(answer.block));
      }
      matches[b].push_back(answer.match);
    }
  });
  for (auto& block : matches)
    std::sort(block.begin(), block.end(), [](const Match& a, const Match& b) {
      return std::tie(a.local, a.block, a.remote) < std::tie(b.local, b.block, b.remote);
    });
  return matches;
}

}  // namespace tributary
