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

/// Broadcast of the item of one block to all ranks that have blocks, along the rounds of a merge
/// reduction in reverse order. In each round a rank that has the item sends it to k - 1 others.
///
/// Can run any number of times. Non-blocking with start() and advance().
template <class Item>
class Broadcast : public detail::ReductionMachine {
 public:
  /// Collective: see the constructor of ReductionMachine.
  /// @param k  factor by which the number of ranks with the item grows in each round, at least 2.
  ///           Default: DefaultK.
  Broadcast(Transport& transport, const Assignment& assignment, int k = DefaultK)
      : detail::ReductionMachine(transport, owners(assignment),
                                 fullOrRefused(owners(assignment).total(), k)),
        blocks_(assignment) {}

  /// Starts a run. Collective, without communication. The rank of the root then calls give() or
  /// giveNothing(), now or later. Throws Error if the root does not exist.
  /// @param root  the block whose item is sent
  void start(BlockId root) {
    const auto mine = static_cast<std::size_t>(assignment().count(transport().rank()));
    begin(mine, static_cast<std::int64_t>(mine), rootError(root));
    root_ = assignment().first(blocks_.rankOf(root));
    item_.reset();
  }
  /// Provides the item. Called once, on the rank of the root.
  void give(Item item) {
    if (gaveUp()) return;
    Bytes bytes;
    guarded([&] {
      bytes = packed(item, detail::BlockPost::Tail);
      item_ = std::move(item);
    });
    pass(0, bytes, failed());
  }
  /// Called instead of give(): no rank receives an item.
  void giveNothing() {
    if (!gaveUp()) pass(0, Bytes(), true);
  }

  /// The item on this rank; nothing if the rank has no blocks or there is no item. @pre ended()
  [[nodiscard]] const std::optional<Item>& item() const { return item_; }

  /// Starts a run and advances it to the end. Collective. Throws Error on all ranks if one fails.
  /// @param item  on the rank of the root
  /// @return item()
  const std::optional<Item>& run(BlockId root, std::optional<Item> item) {
    agreeOnError(transport(), rootError(root));
    start(root);
    if (blocks_.rankOf(root) == transport().rank()) {
      if (item) {
        give(std::move(*item));
      } else {
        fail("broadcast: the rank of the root passed no item");
        giveNothing();
      }
    }
    finish();
    return item_;
  }

 protected:
  void accept(detail::BlockMessage&& message) override {
    const std::int64_t place = placeOf(message.to);
    if (!partsLeft() || place == 0) refuseMessage("a duplicate item of a broadcast");
    pass(place, message.payload, message.failed);
    if (!message.failed) guarded([&] { item_ = unpacked<Item>(std::move(message.payload)); });
  }
  void giveUp() override {
    item_.reset();
    if (partsLeft()) pass(placeOf(post().first()), Bytes(), true);
  }
  std::int64_t expectedFromOthers() const override {
    return post().localCount() > 0 && placeOf(post().first()) != 0 ? 1 : 0;
  }

 private:
  std::string rootError(BlockId root) const {
    if (blocks_.exists(root)) return {};
    return "broadcast: the root, block " + std::to_string(root) +
           ", does not exist; give one in [0, " + std::to_string(blocks_.total() - 1) + "]";
  }
  /// An assignment of one block to each rank that has blocks.
  static Assignment owners(const Assignment& assignment) {
    std::vector<std::int64_t> counts;
    for (int rank = 0; rank < assignment.ranks(); ++rank) {
      counts.push_back(assignment.count(rank) > 0 ? 1 : 0);
    }
    return Assignment(counts);
  }
  /// Places count the ranks with blocks, from that of the root.
  std::int64_t placeOf(BlockId owner) const {
    return (owner - root_ + rounds().blocks()) % rounds().blocks();
  }

  /// Sends the item to the places that this one merges in a merge reduction, the most distant
  /// first.
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
    partDone();
  }

  Assignment blocks_;
  BlockId root_ = 0;  // the block of the rank of the root, in the assignment of owners
  std::optional<Item> item_;
};

}  // namespace tributary
