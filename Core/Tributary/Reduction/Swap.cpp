// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Reduction/Swap.h"

#include <algorithm>
#include <string>
#include <utility>

#include "Tributary/Base/Error.h"

namespace tributary {

using namespace detail;

namespace {

Interval intersection(const Interval& a, const Interval& b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

}  // namespace

SwapBytes::SwapBytes(Transport& transport, const Assignment& assignment, KValues kValues,
                     ArrayOperation operation)
    : ArrayReduction(transport, assignment, std::move(kValues), std::move(operation)) {}

Interval SwapBytes::part(std::size_t localBlock) const {
  const BlockId block = assignment().first(transport().rank()) + static_cast<BlockId>(localBlock);
  return rounds().part(block, rounds().count(), length());
}

void SwapBytes::start(const std::vector<std::byte*>& buffers) {
  begin(buffers.size(), static_cast<std::int64_t>(buffers.size()));
  ready_.clear();
  blocks_.clear();
  blocks_.resize(buffers.size());
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    blocks_[i].id = post().first() + static_cast<BlockId>(i);
    blocks_[i].buffer = buffers[i];
    blocks_[i].nests = nests(blocks_[i].id);
  }
  attempt([&] {
    for (Block& block : blocks_) {
      startRound(block);
      proceed(block);
    }
    return true;
  });
}

bool SwapBytes::nests(BlockId block) const {
  Interval before = {0, length()};
  for (int round = 1; round <= rounds().count(); ++round) {
    const Interval after = rounds().part(block, round, length());
    if (after.begin < before.begin || after.end > before.end) return false;
    before = after;
  }
  return true;
}

// Groups of unequal size divide the buffer differently. The block's new part is cut wherever a part
// of a group ends, and each segment is combined separately.
SwapBytes::Swap SwapBytes::swapOf(const Block& block) const {
  const int round = block.round;
  Swap swap;
  swap.first = rounds().first(block.id, round + 1);
  swap.groups = rounds().meeting(swap.first, round);
  swap.before = rounds().part(block.id, round, length());
  swap.after = rounds().part(block.id, round + 1, length());
  if (swap.after.empty()) return swap;
  std::vector<std::int64_t> cuts = {swap.after.begin, swap.after.end};
  for (int group = 0; group < swap.groups; ++group) {
    const std::int64_t members = rounds().members(swap.first + group * rounds().span(round), round);
    for (std::int64_t place = Rounds::placeOf(swap.after.begin, members, length()) + 1;
         place * length() / members < swap.after.end; ++place) {
      cuts.push_back(place * length() / members);
    }
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    swap.segments.push_back({{cuts[i], cuts[i + 1]},
                             GroupTree(swap.groups),
                             std::vector<std::byte*>(static_cast<std::size_t>(swap.groups))});
  }
  swap.missing = swap.segments.size();
  return swap;
}

void SwapBytes::startRound(Block& block) {
  if (block.round == rounds().count()) {
    block.swap = Swap();
    partDone();
    return;
  }
  block.swap = swapOf(block);
  send(block);
  ++block.roundsSent;
  const int group = static_cast<int>((block.id - block.swap.first) / rounds().span(block.round));
  for (Segment& segment : block.swap.segments) {
    if (intersection(segment.elements, block.swap.before).empty()) continue;
    segment.from[static_cast<std::size_t>(group)] = at(block, segment.elements.begin);
    arrived(block, segment, group);
  }
  for (BlockMessage& message : std::exchange(block.early, {})) accept(std::move(message));
}

void SwapBytes::proceed(Block& block) {
  while (block.round < rounds().count() && block.swap.missing == 0) {
    ++block.round;
    startRound(block);
  }
}

void SwapBytes::send(const Block& block) {
  const Interval& own = block.swap.before;
  if (own.empty()) return;
  // Allocate all messages before sending any: giveUp() sends all messages of a round or none.
  std::vector<BlockMessage> copies;
  const std::int64_t members = rounds().members(block.swap.first, block.round + 1);
  const std::int64_t begin = Rounds::placeOf(own.begin, members, length());
  const std::int64_t count = Rounds::placeOf(own.end - 1, members, length()) + 1 - begin;
  // Each group starts with the blocks of the next group, so that groups do not send to the same
  // block at the same time.
  const std::int64_t next = (block.id - block.swap.first) / rounds().span(block.round) + 1;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t place = begin + (next + i) % count;
    const Interval shared =
        intersection(own, {place * length() / members, (place + 1) * length() / members});
    const BlockId to = rounds().blockAt(block.swap.first, place, block.round + 1);
    if (to == block.id || shared.empty()) continue;
    const Span<const std::byte> payload(at(block, shared.begin), bytes(shared.size()));
    BlockMessage message{block.id, to, block.round, {}, false};
    if (block.nests) {
      post().sendFrom(std::move(message), payload);
      continue;
    }
    message.payload.reserve(payload.size() + BlockPost::Tail);
    append(message.payload, payload.data(), payload.size());
    copies.push_back(std::move(message));
  }
  for (BlockMessage& message : copies) post().send(std::move(message));
}

void SwapBytes::accept(BlockMessage&& message) {
  Block& block = blocks_[post().localIndex(message.to)];
  // A message of an impossible round must not be kept: the expected one will never arrive.
  const Interval theirs =
      rounds().exchanged(message.from, message.to, static_cast<int>(message.round), length());
  if (message.from == block.id || message.round < block.round || theirs.empty() ||
      (!message.failed && message.payload.size() != bytes(theirs.size()))) {
    refuseMessage("block " + std::to_string(message.from) + " sends block " +
                  std::to_string(message.to) + " " + std::to_string(message.payload.size()) +
                  " bytes in round " + std::to_string(message.round) + " of a swap reduction");
  }
  if (message.round > block.round) {
    block.early.push_back(std::move(message));
    return;
  }
  take(block, std::move(message), theirs);
}

void SwapBytes::take(Block& block, BlockMessage&& message, const Interval& theirs) {
  Swap& swap = block.swap;
  const int round = block.round;
  const int group = static_cast<int>((message.from - swap.first) / rounds().span(round));
  if (message.failed) {
    // The content does not matter: combining ends.
    skip();
    message.payload.resize(bytes(theirs.size()));
  }
  swap.arrived.push_back(std::move(message.payload));
  std::byte* payload = swap.arrived.back().data();
  for (Segment& segment : swap.segments) {
    if (intersection(segment.elements, theirs).empty()) continue;
    if (segment.tree.has(group)) {
      refuseMessage("a duplicate from block " + std::to_string(message.from) + " in round " +
                    std::to_string(round) + " of a swap reduction");
    }
    segment.from[static_cast<std::size_t>(group)] =
        payload + bytes(segment.elements.begin - theirs.begin);
    arrived(block, segment, group);
  }
}

void SwapBytes::arrived(Block& block, Segment& segment, int group) {
  if (segment.tree.arrived(group)) {
    const auto [lower, upper] = segment.tree.pair();
    ready_.push_back({&block, &segment, lower, upper});
  } else if (segment.tree.complete()) {
    --block.swap.missing;
  }
}

// Combining may end a round, and the next round may have combinations that are ready.
bool SwapBytes::work() {
  if (ready_.empty()) return false;
  const std::vector<Ready> ready = std::exchange(ready_, {});
  std::vector<Pair> pairs;
  for (const Ready& pair : ready) {
    Segment& segment = *pair.segment;
    std::byte*& lower = segment.from[static_cast<std::size_t>(pair.lower)];
    // The last result is stored in the block's buffer, the others in place of the lower item.
    const bool last = pair.lower == 0 && 2 * pair.upper >= segment.tree.size();
    std::byte* result = last ? at(*pair.block, segment.elements.begin) : lower;
    pairs.push_back({lower, segment.from[static_cast<std::size_t>(pair.upper)], result,
                     segment.elements.size()});
    lower = result;
  }
  combine(pairs);
  for (const Ready& pair : ready) arrived(*pair.block, *pair.segment, pair.lower);
  for (const Ready& pair : ready) proceed(*pair.block);
  return true;
}

}  // namespace tributary
