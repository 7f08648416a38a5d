// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Serial.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Reduction/detail/Machine.h"

namespace tributary {

/// A block's item for the blocks of all ranks: the merge reduction backwards, among the ranks that
/// have blocks. In each round a rank that has the item passes it on to k - 1 others.
///
/// Can be run many times. Non-blocking with start() and advance(), on any transport.
template <class Item>
class Broadcast : public detail::ReductionMachine {
 public:
  /// Collective. Throws Error on all ranks if arguments are wrong or differ between ranks.
  /// @param transport  outlives the broadcast
  /// @param k          how many ranks have the item after a round for one that had it before
  Broadcast(Transport& transport, const Assignment& assignment, int k = DefaultK)
      : detail::ReductionMachine(transport, owners(assignment),
                                 fullOrRefused(owners(assignment).total(), k)),
        blocks_(assignment) {}

  /// Begins. Collective, without communication; the root's rank gives the item now or later.
  /// @param root  the block whose item it is. Throws Error if there is no such block.
  void start(BlockId root) {
    const auto mine = static_cast<std::size_t>(assignment().count(transport().rank()));
    begin(mine, rootError(root));
    root_ = assignment().first(blocks_.rankOf(root));
    item_.reset();
    waiting_ = mine > 0;
  }
  /// The root's rank only, once.
  void give(Item item) {
    if (gaveUp()) return;
    Bytes bytes;
    guarded([&] {
      bytes = packed(item, detail::BlockPost::Tail);
      item_ = std::move(item);
    });
    pass(0, bytes, failed());
  }
  /// Instead of give(): no rank gets an item.
  void giveNothing() {
    if (!gaveUp()) pass(0, Bytes(), true);
  }

  /// What this rank got; nothing on a rank without blocks. @pre ended()
  const std::optional<Item>& item() const { return item_; }

  /// All of it. Collective; @param item  on the root's rank. @return item()
  const std::optional<Item>& run(BlockId root, std::optional<Item> item) {
    agreeOnError(transport(), rootError(root));
    start(root);
    if (blocks_.rankOf(root) == transport().rank()) {
      if (item) {
        give(std::move(*item));
      } else {
        fail("broadcast: the root has no item");
        giveNothing();
      }
    }
    finish();
    return item_;
  }

 protected:
  bool turn() override {
    bool moved = false;
    while (auto message = post().receive()) {
      moved = true;
      const std::int64_t place = placeOf(message->to);
      if (!waiting_ || place == 0) throw Error("malformed message: a broadcast's second item");
      pass(place, message->payload, message->failed);
      if (!message->failed) guarded([&] { item_ = unpacked<Item>(std::move(message->payload)); });
    }
    return moved;
  }
  bool turnsEnded() const override { return !waiting_; }
  void giveUp() override {
    item_.reset();
    if (waiting_) pass(placeOf(post().first()), Bytes(), true);
  }
  std::int64_t expectedFromOthers() const override {
    return post().localCount() > 0 && placeOf(post().first()) != 0 ? 1 : 0;
  }

 private:
  std::string rootError(BlockId root) const {
    if (blocks_.exists(root)) return {};
    return "broadcast: there is no block " + std::to_string(root) + " to send from";
  }
  /// One block for each rank that has blocks.
  static Assignment owners(const Assignment& assignment) {
    std::vector<std::int64_t> counts;
    for (int rank = 0; rank < assignment.ranks(); ++rank) {
      counts.push_back(assignment.count(rank) > 0 ? 1 : 0);
    }
    return Assignment(counts);
  }
  /// Ranks with blocks are counted from the root's.
  std::int64_t placeOf(BlockId owner) const {
    return (owner - root_ + rounds().blocks()) % rounds().blocks();
  }

  /// From here to those that this place merges in a merge reduction, the farthest first.
  void pass(std::int64_t place, const Bytes& bytes, bool nothing) {
    const BlockId self = (place + root_) % rounds().blocks();
    for (int round = rounds().count() - 1; round >= 0; --round) {
      if (rounds().first(place, round + 1) != place) continue;
      const int groups = rounds().meeting(place, round);
      for (int group = 1; group < groups; ++group) {
        const BlockId to = (place + group * rounds().span(round) + root_) % rounds().blocks();
        Bytes copy;
        copy.reserve(bytes.size() + detail::BlockPost::Tail);
        append(copy, bytes.data(), bytes.size());
        post().send({self, to, round, std::move(copy), nothing});
      }
    }
    waiting_ = false;
  }

  Assignment blocks_;
  BlockId root_ = 0;  // the owner whose item it is
  std::optional<Item> item_;
  bool waiting_ = false;
};

}  // namespace tributary
