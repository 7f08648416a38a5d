// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/ParallelFor.h"
#include "Tributary/Base/Serial.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Reduction/Rounds.h"
#include "Tributary/Reduction/detail/BlockPost.h"
#include "Tributary/Reduction/detail/GroupTree.h"
#include "Tributary/Reduction/detail/Machine.h"

namespace tributary {

/// Merge reduction of items over blocks: T. Peterka, R. Ross, "Versatile
/// Communication Algorithms for Data Analysis", EuroMPI 2012, LNCS 7490,
/// Algorithm 1.
///
/// In each round k neighboring groups of blocks merge their items into one item, at the first block
/// of the new group. A full reduction ends at block 0; fewer rounds give a partial reduction. Items
/// can have any type with a Serial, and any size. For arrays see ArrayMergeReduction and
/// SwapReduction.
///
/// The operator must be associative and need not be commutative. Items are merged as they arrive,
/// but always in the order of the blocks, along trees that depend only on the number of blocks and
/// the k-values. So the result has the same bits for any number of ranks and threads and any order
/// of arrival.
///
///     MergeReduction<Histogram> merge(transport, assignment, Rounds::full(assignment.total(), 2),
///                                     [](Histogram& lower, Histogram&& upper) { lower += upper;
///                                     });
///     for (auto& [block, histogram] : merge.run(std::move(histograms))) ...  // on block 0's rank
///
/// Can run any number of times. Non-blocking with start() and advance().
template <class Item>
class MergeReduction : public detail::ReductionMachine {
 public:
  /// Merges the item of higher blocks into that of lower ones. Called by several threads
  /// concurrently, for different items, if the parallel loop has several.
  using Combine = std::function<void(Item& lower, Item&& upper)>;
  /// A block that has a merged item at the end.
  struct Survivor {
    BlockId block;
    Item item;
  };

  /// Collective: see the constructor of ReductionMachine.
  /// @param parallelFor  runs merges of this rank that are ready at the same time. Default: on the
  ///                     calling thread.
  MergeReduction(Transport& transport, const Assignment& assignment, KValues kValues,
                 Combine combine, ParallelFor parallelFor = serialFor)
      : detail::ReductionMachine(transport, assignment, std::move(kValues)),
        combine_(std::move(combine)),
        parallelFor_(std::move(parallelFor)) {}

  /// Starts a run. Collective, without communication. The previous run must have ended on this
  /// rank.
  /// @param items  one for each local block, in order
  void start(std::vector<Item> items) {
    begin(items.size(), static_cast<std::int64_t>(items.size()));
    groups_.clear();
    ready_.clear();
    survivors_.clear();
    passedOn_.assign(items.size(), false);
    attempt([&] {
      for (std::size_t i = 0; i < items.size(); ++i) {
        Slot slot;
        slot.item = std::move(items[i]);
        promote(post().first() + static_cast<BlockId>(i), 0, std::move(slot));
      }
      return true;
    });
  }

  /// The merged items on this rank, in the order of blocks. @pre ended()
  [[nodiscard]] std::vector<Survivor> takeSurvivors() {
    std::sort(survivors_.begin(), survivors_.end(),
              [](const Survivor& a, const Survivor& b) { return a.block < b.block; });
    return std::exchange(survivors_, {});
  }

  /// Starts a run and advances it to the end. Collective. Throws Error on all ranks if an operator
  /// throws on one. @return takeSurvivors()
  [[nodiscard]] std::vector<Survivor> run(std::vector<Item> items) {
    agreeOnError(transport(), itemsError(items.size()));
    start(std::move(items));
    finish();
    return takeSurvivors();
  }

 private:
  /// An item, or its message, which the thread that needs the item unpacks.
  struct Slot {
    std::optional<Item> item;
    Bytes bytes;
    Item& unpack() {
      if (!item) item = unpacked<Item>(std::move(bytes));
      return *item;
    }
  };
  struct Group {
    detail::GroupTree tree;
    std::vector<Slot> slots;
  };
  using Key = std::pair<BlockId, int>;  // first block, round
  struct Pair {
    Key key;
    Group* group;
    int lower;
    int upper;
  };

  void giveUp() override {
    survivors_.clear();
    for (std::size_t i = 0; i < passedOn_.size(); ++i) {
      const BlockId block = post().first() + static_cast<BlockId>(i);
      const int round = rounds().lastRound(block);
      if (passedOn_[i] || round == rounds().count()) continue;
      const BlockId to = rounds().first(block, round + 1);
      if (!post().isLocal(to)) post().send({block, to, round, textOf(error()), true});
    }
  }
  std::int64_t expectedFromOthers() const override {
    std::int64_t messages = 0;
    for (std::size_t i = 0; i < passedOn_.size(); ++i) {
      messages += rounds().merging(post().first() + static_cast<BlockId>(i),
                                   [&](BlockId from) { return !post().isLocal(from); });
    }
    return messages;
  }
  static Bytes textOf(const std::string& error) {
    Bytes text;
    append(text, error.data(), error.size());
    return text;
  }

  void accept(detail::BlockMessage&& message) override {
    const int round = static_cast<int>(message.round);
    const BlockId first = rounds().first(message.from, round + 1);
    if (first != message.to || rounds().first(message.from, round) != message.from ||
        message.from == message.to) {
      refuseMessage("block " + std::to_string(message.from) + " does not merge into block " +
                    std::to_string(message.to) + " in round " + std::to_string(round));
    }
    if (message.failed) {
      fail(std::string(reinterpret_cast<const char*>(message.payload.data()),
                       message.payload.size()));
    }
    Slot slot;
    slot.bytes = std::move(message.payload);
    place(message.to, round, message.from, std::move(slot));
  }

  /// Sends a block's item before `round` to the place where it is merged, unless it is a result.
  void promote(BlockId block, int round, Slot&& slot) {
    if (round == rounds().count()) {
      if (!failed()) survivors_.push_back({block, std::move(*slot.item)});
      partDone();
      return;
    }
    const BlockId first = rounds().first(block, round + 1);
    if (first != block) partDone();
    if (post().isLocal(first)) {
      place(first, round, block, std::move(slot));
    } else {
      if (slot.item) {
        guarded([&] { slot.bytes = packed(std::move(*slot.item), detail::BlockPost::Tail); });
      }
      if (failed()) slot.bytes = textOf(error());
      post().send({block, first, round, std::move(slot.bytes), failed()});
      passedOn_[post().localIndex(block)] = true;
    }
  }

  void place(BlockId first, int round, BlockId from, Slot&& slot) {
    const Key key(first, round);
    auto [at, isNew] = groups_.try_emplace(key);
    Group& group = at->second;
    if (isNew) {
      const int size = rounds().meeting(first, round);
      group.tree = detail::GroupTree(size);
      group.slots.resize(static_cast<std::size_t>(size));
    }
    const int index = static_cast<int>((from - first) / rounds().span(round));
    Slot& here = group.slots[static_cast<std::size_t>(index)];
    if (group.tree.has(index)) {
      refuseMessage("a duplicate from block " + std::to_string(from) + " in round " +
                    std::to_string(round));
    }
    here = std::move(slot);
    arrived(key, group, index);
  }

  void arrived(Key key, Group& group, int index) {
    if (group.tree.arrived(index)) {
      const auto [lower, upper] = group.tree.pair();
      ready_.push_back({key, &group, lower, upper});
    } else if (group.tree.complete()) {
      Slot slot = std::move(group.slots.front());
      groups_.erase(key);
      promote(key.first, key.second + 1, std::move(slot));
    }
  }

  /// Merges all pairs that are ready. This may complete groups, and so make new pairs ready.
  bool work() override {
    if (ready_.empty()) return false;
    std::vector<Pair> pairs = std::exchange(ready_, {});
    parallelFor_(static_cast<std::int64_t>(pairs.size()), [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t i = from; i < to; ++i) {
        const Pair& pair = pairs[static_cast<std::size_t>(i)];
        Slot& lower = pair.group->slots[static_cast<std::size_t>(pair.lower)];
        Slot& upper = pair.group->slots[static_cast<std::size_t>(pair.upper)];
        guarded([&] { combine_(lower.unpack(), std::move(upper.unpack())); });
        upper = Slot();
      }
    });
    for (const Pair& pair : pairs) arrived(pair.key, *pair.group, pair.lower);
    return true;
  }

  Combine combine_;
  ParallelFor parallelFor_;
  std::map<Key, Group> groups_;  // in progress, of this rank's blocks
  std::vector<Pair> ready_;
  std::vector<Survivor> survivors_;
  std::vector<bool> passedOn_;  // to another rank, by local block
};

}  // namespace tributary
