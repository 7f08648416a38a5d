// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Components/SetLinks.h"

#include <algorithm>
#include <string>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Records.h"
#include "Tributary/Components/Connection.h"

namespace tributary {
namespace {

/// Notifies the owner of an entity: the entity is in a set of the sender.
struct Held {
  BlockId owner;
  std::int64_t entity;  // its number there
  SetName set;
};

/// Notifies a block of one of its links to another block.
struct Linked {
  BlockId block;
  SetLink link;
};

bool less(const SetLink& a, const SetLink& b) {
  if (a.local != b.local) return a.local < b.local;
  return a.block != b.block ? a.block < b.block : a.remote < b.remote;
}

bool same(const SetLink& a, const SetLink& b) {
  return a.local == b.local && a.block == b.block && a.remote == b.remote;
}

class Linking {
 public:
  Linking(Transport& transport, const Assignment& assignment,
          const std::vector<std::vector<Match>>& matches,
          const std::vector<Span<const std::uint32_t>>& setOfEntity)
      : transport_(transport),
        assignment_(assignment),
        matches_(matches),
        sets_(setOfEntity),
        first_(assignment.first(transport.rank())) {}

  void check() const {
    const auto count = static_cast<std::size_t>(assignment_.count(transport_.rank()));
    if (matches_.size() != count || sets_.size() != count) {
      throw Error("linking sets: matches of " + std::to_string(matches_.size()) + " and sets of " +
                  std::to_string(sets_.size()) + " blocks given for " + std::to_string(count) +
                  " local blocks; pass those of each block");
    }
    for (std::size_t b = 0; b < count; ++b) {
      for (const Match& match : matches_[b]) {
        if (match.local < 0 || static_cast<std::size_t>(match.local) >= sets_[b].size()) {
          throw Error("linking sets: a match of entity " + std::to_string(match.local) +
                      ", but sets of " + std::to_string(sets_[b].size()) +
                      " entities; give an entity of the sets");
        }
        if (!assignment_.exists(match.block)) {
          throw Error("linking sets: a match with block " + std::to_string(match.block) +
                      ", but blocks are numbered from 0 to " +
                      std::to_string(assignment_.total() - 1) + "; give one of these blocks");
        }
      }
    }
  }

  /// Notifies owners of their entities that are in sets of this rank.
  void tell(RecordOutbox<Held>& outbox) const {
    for (std::size_t b = 0; b < matches_.size(); ++b) {
      const BlockId block = first_ + static_cast<BlockId>(b);
      for (const Match& match : matches_[b]) {
        const std::uint32_t set = sets_[b][static_cast<std::size_t>(match.local)];
        if (set == NoSet || owns(block, match)) continue;
        outbox.add(assignment_.rankOf(match.block), {match.block, match.remote, {block, set}});
      }
    }
  }

  /// Links the sets of each entity that this rank owns.
  void link(Records<Held>& received, RecordOutbox<Linked>& outbox) const {
    for (int rank = 0; rank < transport_.size(); ++rank)
      for (const Held& one : received.from(rank)) check(one, rank);
    std::vector<Held>& held = received.all();
    // The sets of this rank that have shared entities which it owns.
    for (std::size_t b = 0; b < matches_.size(); ++b) {
      const BlockId block = first_ + static_cast<BlockId>(b);
      std::int64_t last = -1;
      for (const Match& match : matches_[b]) {
        const std::uint32_t set = sets_[b][static_cast<std::size_t>(match.local)];
        if (match.local == last || set == NoSet || !owns(block, match)) continue;
        held.push_back({block, match.local, {block, set}});
        last = match.local;
      }
    }
    std::sort(held.begin(), held.end(), [](const Held& a, const Held& b) {
      if (a.owner != b.owner) return a.owner < b.owner;
      return a.entity != b.entity ? a.entity < b.entity : a.set < b.set;
    });
    std::vector<std::pair<SetName, SetName>> pairs;
    for (std::size_t i = 0, least = 0; i < held.size(); ++i) {
      if (held[i].owner != held[least].owner || held[i].entity != held[least].entity) least = i;
      if (held[i].set != held[least].set) pairs.emplace_back(held[least].set, held[i].set);
    }
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    for (const auto& [a, b] : pairs) {
      outbox.add(assignment_.rankOf(a.block), {a.block, {a.set, b.block, b.set}});
      outbox.add(assignment_.rankOf(b.block), {b.block, {b.set, a.block, a.set}});
    }
  }

  std::vector<std::vector<SetLink>> collect(const Records<Linked>& received) const {
    std::vector<std::vector<SetLink>> links(matches_.size());
    for (const Linked& linked : received) {
      const std::uint64_t b = offsetOf(linked.block, first_);
      if (b >= links.size() || !assignment_.exists(linked.link.block))
        refuseMessage("a link of block " + std::to_string(linked.block) + " with block " +
                      std::to_string(linked.link.block));
      links[b].push_back(linked.link);
    }
    for (auto& block : links) {
      std::sort(block.begin(), block.end(), less);
      block.erase(std::unique(block.begin(), block.end(), same), block.end());
    }
    return links;
  }

 private:
  /// Whether the match is one of the owner's.
  static bool owns(BlockId block, const Match& match) {
    return block != match.block ? block < match.block : match.local < match.remote;
  }

  void check(const Held& held, int rank) const {
    const std::uint64_t b = offsetOf(held.owner, first_);
    if (b < sets_.size() && held.entity >= 0 &&
        static_cast<std::uint64_t>(held.entity) < sets_[b].size() &&
        assignment_.exists(held.set.block) && assignment_.rankOf(held.set.block) == rank) {
      return;
    }
    refuseMessage("entity " + std::to_string(held.entity) + " of block " +
                  std::to_string(held.owner) + " in a set of block " +
                  std::to_string(held.set.block) + " of rank " + std::to_string(rank));
  }

  Transport& transport_;
  const Assignment& assignment_;
  const std::vector<std::vector<Match>>& matches_;
  const std::vector<Span<const std::uint32_t>>& sets_;
  const BlockId first_;
};

}  // namespace

std::vector<std::vector<SetLink>> linkSets(
    Transport& transport, const Assignment& assignment,
    const std::vector<std::vector<Match>>& matches,
    const std::vector<Span<const std::uint32_t>>& setOfEntity) {
  Linking linking(transport, assignment, matches, setOfEntity);
  collectively(transport, [&] { linking.check(); });
  ErrorCollector errors;
  Records<Held> held = sendRecords<Held>(transport, errors,
                                         [&](RecordOutbox<Held>& outbox) { linking.tell(outbox); });
  const Records<Linked> linked = sendRecords<Linked>(
      transport, errors, [&](RecordOutbox<Linked>& outbox) { linking.link(held, outbox); });
  std::vector<std::vector<SetLink>> links;
  if (!errors.anyKnown()) errors.attempt([&] { links = linking.collect(linked); });
  errors.agree(transport);
  return links;
}

}  // namespace tributary
