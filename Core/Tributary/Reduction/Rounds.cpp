// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Reduction/Rounds.h"

#include <algorithm>
#include <string>
#include <utility>

#include "Tributary/Base/Error.h"

namespace tributary {

namespace {

void requireAtLeastTwo(int k) {
  if (k < 2) {
    throw Error("reduction: a k-value of " + std::to_string(k) + "; k-values must be at least 2");
  }
}

}  // namespace

Rounds::Rounds(std::int64_t blocks, KValues kValues)
    : blocks_(blocks), kValues_(std::move(kValues)) {
  if (blocks < 0) throw Error("reduction: the number of blocks must not be negative");
  spans_.push_back(1);
  for (const int k : kValues_) {
    requireAtLeastTwo(k);
    // A group of all blocks does not grow.
    const std::int64_t all = std::max<std::int64_t>(blocks, 1);
    spans_.push_back(spans_.back() > all / k ? all : std::min(all, spans_.back() * k));
  }
}

KValues Rounds::full(std::int64_t blocks, int k) {
  requireAtLeastTwo(k);
  KValues kValues;
  for (std::int64_t groups = blocks; groups > 1; groups = (groups + k - 1) / k) {
    kValues.push_back(static_cast<int>(std::min<std::int64_t>(k, groups)));
  }
  return kValues;
}

// Groups 0 to c - 1 meet, of S blocks each except for the last, which has s <= S. Places are
// numbered row by row: row j has the blocks at place j of their groups, of c groups for j < s, of c
// - 1 after.
std::int64_t Rounds::place(BlockId block, int round) const {
  std::int64_t place = 0;
  for (int r = 0; r < round; ++r) {
    const BlockId start = first(block, r + 1);
    const std::int64_t groups = meeting(start, r);
    const std::int64_t last = members(start, r + 1) - (groups - 1) * span(r);
    const std::int64_t group = (block - start) / span(r);
    place = place < last ? place * groups + group
                         : last * groups + (place - last) * (groups - 1) + group;
  }
  return place;
}

BlockId Rounds::blockAt(BlockId first, std::int64_t place, int round) const {
  for (int r = round - 1; r >= 0; --r) {
    const std::int64_t groups = meeting(first, r);
    const std::int64_t last = members(first, r + 1) - (groups - 1) * span(r);
    const bool allGroups = place < last * groups;
    const std::int64_t beyond = place - last * groups;
    const std::int64_t group = allGroups ? place % groups : beyond % (groups - 1);
    place = allGroups ? place / groups : last + beyond / (groups - 1);
    first += group * span(r);
  }
  return first;
}

Interval Rounds::part(BlockId block, int round, std::int64_t length) const {
  const std::int64_t parts = members(first(block, round), round);
  const std::int64_t at = place(block, round);
  return {at * length / parts, (at + 1) * length / parts};
}

int Rounds::lastRound(BlockId block) const {
  int round = 0;
  while (round < count() && first(block, round + 1) == block) ++round;
  return round;
}

std::vector<BlockId> Rounds::receivers(BlockId block, int round, std::int64_t length) const {
  std::vector<BlockId> blocks;
  const Interval own = part(block, round, length);
  if (own.empty()) return blocks;
  const BlockId start = first(block, round + 1);
  const std::int64_t size = members(start, round + 1);
  const std::int64_t last = placeOf(own.end - 1, size, length);
  for (std::int64_t place = placeOf(own.begin, size, length); place <= last; ++place) {
    const Interval theirs = {place * length / size, (place + 1) * length / size};
    if (!theirs.empty()) blocks.push_back(blockAt(start, place, round + 1));
  }
  return blocks;
}

std::vector<BlockId> Rounds::senders(BlockId block, int round, std::int64_t length) const {
  std::vector<BlockId> blocks;
  const Interval own = part(block, round + 1, length);
  if (own.empty()) return blocks;
  const BlockId start = first(block, round + 1);
  for (int group = 0; group < meeting(start, round); ++group) {
    const BlockId begin = start + group * span(round);
    const std::int64_t size = members(begin, round);
    const std::int64_t last = placeOf(own.end - 1, size, length);
    for (std::int64_t place = placeOf(own.begin, size, length); place <= last; ++place) {
      const Interval theirs = {place * length / size, (place + 1) * length / size};
      if (!theirs.empty()) blocks.push_back(blockAt(begin, place, round));
    }
  }
  return blocks;
}

Interval Rounds::exchanged(BlockId from, BlockId to, int round, std::int64_t length) const {
  if (first(from, round + 1) != first(to, round + 1)) return {};
  const Interval before = part(from, round, length), after = part(to, round + 1, length);
  return {std::max(before.begin, after.begin), std::min(before.end, after.end)};
}

// The largest place with place * length / members <= element.
std::int64_t Rounds::placeOf(std::int64_t element, std::int64_t members, std::int64_t length) {
  return ((element + 1) * members - 1) / length;
}

}  // namespace tributary
