// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Components/SetLinks.h"

#include <algorithm>
#include <string>
#include <utility>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {
namespace {

constexpr std::uint32_t NoSet = 0xffffffffu;

/// An entity that is in a set of the sender, told to the entity's owner.
struct Held {
  BlockId owner;
  std::int64_t entity;  // its number there
  SetName set;
};

/// A link told to the block that it is for.
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
        first_(assignment.first(transport.rank())),
        outgoing_(static_cast<std::size_t>(transport.size())) {}

  void check() const {
    const auto count = static_cast<std::size_t>(assignment_.count(transport_.rank()));
    if (matches_.size() != count || sets_.size() != count) {
      throw Error("linking sets: matches of " + std::to_string(matches_.size()) + " and sets of " +
                  std::to_string(sets_.size()) + " blocks given for " + std::to_string(count) +
                  " local blocks");
    }
    for (std::size_t b = 0; b < count; ++b) {
      for (const Match& match : matches_[b]) {
        if (match.local < 0 || static_cast<std::size_t>(match.local) >= sets_[b].size()) {
          throw Error("linking sets: a match of entity " + std::to_string(match.local) +
                      ", but sets of " + std::to_string(sets_[b].size()) + " entities");
        }
        if (!assignment_.exists(match.block)) {
          throw Error("linking sets: a match with block " + std::to_string(match.block) +
                      ", but blocks are numbered from 0 to " +
                      std::to_string(assignment_.total() - 1));
        }
      }
    }
  }

  /// Tells owners which of their entities are in sets here.
  void tell() {
    for (std::size_t b = 0; b < matches_.size(); ++b) {
      const BlockId block = first_ + static_cast<BlockId>(b);
      for (const Match& match : matches_[b]) {
        const std::uint32_t set = sets_[b][static_cast<std::size_t>(match.local)];
        if (set == NoSet || owns(block, match)) continue;
        writerTo(match.block).value(Held{match.block, match.remote, {block, set}});
      }
    }
  }

  /// Links the sets of each entity that is owned here.
  void link(const std::vector<Bytes>& messages) {
    std::vector<Held> held;
    for (std::size_t rank = 0; rank < messages.size(); ++rank) {
      Reader reader(messages[rank]);
      while (!reader.atEnd()) {
        held.push_back(reader.value<Held>());
        check(held.back(), static_cast<int>(rank));
      }
    }
    // The owner's own sets, where others have the entity too.
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
      writerTo(a.block).value(Linked{a.block, {a.set, b.block, b.set}});
      writerTo(b.block).value(Linked{b.block, {b.set, a.block, a.set}});
    }
  }

  /// Sends what the last step has for other ranks. Collective.
  std::vector<Bytes> exchange(ErrorCollector& errors) {
    std::vector<Bytes> messages;
    for (Writer& writer : outgoing_) messages.push_back(writer.take());
    return exchangeBytes(transport_, std::move(messages), errors);
  }

  std::vector<std::vector<SetLink>> collect(const std::vector<Bytes>& messages) {
    std::vector<std::vector<SetLink>> links(matches_.size());
    for (const Bytes& bytes : messages) {
      Reader reader(bytes);
      while (!reader.atEnd()) {
        const auto linked = reader.value<Linked>();
        const auto b = static_cast<std::uint64_t>(linked.block - first_);
        if (b >= links.size() || !assignment_.exists(linked.link.block)) {
          throw Error("malformed message: a link of block " + std::to_string(linked.block) +
                      " with block " + std::to_string(linked.link.block));
        }
        links[b].push_back(linked.link);
      }
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
    const auto b = static_cast<std::uint64_t>(held.owner - first_);
    if (b < sets_.size() && held.entity >= 0 &&
        static_cast<std::uint64_t>(held.entity) < sets_[b].size() &&
        assignment_.exists(held.set.block) && assignment_.rankOf(held.set.block) == rank) {
      return;
    }
    throw Error("malformed message: entity " + std::to_string(held.entity) + " of block " +
                std::to_string(held.owner) + " in a set of block " +
                std::to_string(held.set.block) + " of rank " + std::to_string(rank));
  }

  Writer& writerTo(BlockId block) {
    return outgoing_[static_cast<std::size_t>(assignment_.rankOf(block))];
  }

  Transport& transport_;
  const Assignment& assignment_;
  const std::vector<std::vector<Match>>& matches_;
  const std::vector<Span<const std::uint32_t>>& sets_;
  const BlockId first_;
  std::vector<Writer> outgoing_;
};

}  // namespace

std::vector<std::vector<SetLink>> linkSets(
    Transport& transport, const Assignment& assignment,
    const std::vector<std::vector<Match>>& matches,
    const std::vector<Span<const std::uint32_t>>& setOfEntity) {
  Linking linking(transport, assignment, matches, setOfEntity);
  collectively(transport, [&] { linking.check(); });
  ErrorCollector errors;
  linking.tell();
  std::vector<Bytes> messages = linking.exchange(errors);
  errors.attempt([&] { linking.link(messages); });
  messages = linking.exchange(errors);
  std::vector<std::vector<SetLink>> links;
  errors.attempt([&] { links = linking.collect(messages); });
  errors.agree(transport);
  return links;
}

}  // namespace tributary
