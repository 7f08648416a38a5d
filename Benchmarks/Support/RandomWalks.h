// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Tributary/Collective/Assignment.h"

namespace bench {

using tributary::BlockId;

/// Steele's SplitMix64 without its addition: a bijection that scatters.
inline std::uint64_t scatter(std::uint64_t v) {
  v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9u;
  v = (v ^ (v >> 27)) * 0x94d049bb133111ebu;
  return v ^ (v >> 31);
}

/// What hops from block to block: one message a hop.
struct Walker {
  std::uint64_t random;  ///< Decides the next block.
  std::int64_t left;     ///< Hops.
  std::uint64_t path;    ///< Hash of the blocks that were visited, in order.
  std::uint64_t load[5];
};
static_assert(sizeof(Walker) == 64);

/// One block: the walkers that begin in it, and what has ended in it.
struct WalkBlock {
  BlockId id = 0;
  std::vector<Walker> waiting;
  std::uint64_t hash = 0;  ///< Sum over the walkers that ended; does not depend on their order.
  std::int64_t ended = 0;
  std::int64_t hops = 0;
};

/// Random walks over all blocks, the same under every library and schedule: walker i begins in
/// block i modulo their number and hops a fixed number of times to a block that only its own seeded
/// random numbers decide, its own block included.
class RandomWalks {
 public:
  using Block = WalkBlock;
  using Message = Walker;

  RandomWalks(std::int64_t blocks, std::int64_t walkers, std::int64_t hopsPerWalker)
      : blocks_(blocks), walkers_(walkers), hopsPerWalker_(hopsPerWalker) {}

  std::int64_t walkers() const { return walkers_; }
  std::int64_t hops() const { return walkers_ * hopsPerWalker_; }

  /// Puts the block's walkers back and forgets which have ended in it.
  void seed(WalkBlock& block) const {
    block.hash = 0;
    block.ended = block.hops = 0;
    block.waiting.clear();
    for (std::int64_t i = block.id; i < walkers_; i += blocks_) {
      Walker walker{};
      walker.random = scatter(static_cast<std::uint64_t>(i) + 1);
      walker.left = hopsPerWalker_;
      block.waiting.push_back(walker);
    }
  }

  /// The callback: lets the block's first walkers and then all that `receive(walker)` yields hop,
  /// by one `send(target, walker)` each.
  template <class Receive, class Send>
  void step(WalkBlock& block, Receive&& receive, Send&& send) const {
    const auto visit = [&](Walker& walker) {
      if (walker.left == 0) {
        ++block.ended;
        block.hash += scatter(walker.path);
        return;
      }
      --walker.left;
      walker.random += 0x9e3779b97f4a7c15u;
      const std::uint64_t r = scatter(walker.random) >> 32;
      send(static_cast<BlockId>(r * static_cast<std::uint64_t>(blocks_) >> 32), walker);
    };
    for (Walker& walker : block.waiting) visit(walker);
    block.waiting.clear();
    Walker walker;
    while (receive(walker)) {
      ++block.hops;
      walker.path = (walker.path ^ static_cast<std::uint64_t>(block.id)) * 0x100000001b3u;
      visit(walker);
    }
  }

 private:
  std::int64_t blocks_, walkers_, hopsPerWalker_;
};

}  // namespace bench
