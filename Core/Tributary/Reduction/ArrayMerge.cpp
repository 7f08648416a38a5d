// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Reduction/ArrayMerge.h"

#include <algorithm>
#include <limits>
#include <string>

#include "Tributary/Base/Error.h"

namespace tributary {

using namespace detail;

namespace {

// Sends in progress before a rank's own blocks start the next segment: one is sent while the next
// is combined.
constexpr std::size_t MostUnderWay = 2;

}  // namespace

ArrayMergeBytes::ArrayMergeBytes(Transport& transport, const Assignment& assignment,
                                 KValues kValues, ArrayOperation operation,
                                 std::size_t segmentBytes)
    : ArrayReduction(transport, assignment, std::move(kValues), std::move(operation),
                     {static_cast<std::int64_t>(segmentBytes)}) {
  if (segmentBytes == 0) throw Error("reduction: segmentBytes must be at least 1");
  const auto elements = static_cast<std::int64_t>(std::clamp<std::uint64_t>(
      segmentBytes / bytes(1), 1, std::numeric_limits<std::int64_t>::max()));
  segments_ = length() / elements + (length() % elements > 0 ? 1 : 0);
}

bool ArrayMergeBytes::hasResult(std::size_t localBlock) const {
  const BlockId block = assignment().first(transport().rank()) + static_cast<BlockId>(localBlock);
  return rounds().first(block, rounds().count()) == block;
}

Interval ArrayMergeBytes::segment(std::int64_t number) const {
  // The first `longer` segments have one element more.
  const std::int64_t size = length() / segments_;
  const std::int64_t longer = length() % segments_;
  const std::int64_t begin = number * size + std::min(number, longer);
  return {begin, begin + size + (number < longer ? 1 : 0)};
}

void ArrayMergeBytes::start(const std::vector<std::byte*>& buffers) {
  begin(buffers.size(), static_cast<std::int64_t>(buffers.size()) * segments_);
  meetings_.clear();
  ready_.clear();
  buffers_ = buffers;
  begun_ = 0;
  passedOn_.assign(buffers.size() * static_cast<std::size_t>(segments_), false);
}

bool ArrayMergeBytes::turn() {
  bool moved = false;
  while (true) {
    while (auto message = post().receive()) {
      moved = true;
      accept(std::move(*message));
      combineReady();
    }
    if (buffers_.empty() || begun_ == segments_ || post().underWay() >= MostUnderWay) return moved;
    moved = true;
    beginSegment();
  }
}

void ArrayMergeBytes::giveUp() {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const BlockId block = post().first() + static_cast<BlockId>(i);
    const int round = rounds().lastRound(block);
    if (round == rounds().count()) continue;
    const BlockId to = rounds().first(block, round + 1);
    if (post().isLocal(to)) continue;
    for (std::int64_t segment = 0; segment < segments_; ++segment) {
      if (!passedOn(block, segment)) post().send({block, to, round, {}, true, segment});
    }
  }
}

std::int64_t ArrayMergeBytes::expectedFromOthers() const {
  std::int64_t blocks = 0;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    blocks += rounds().merging(post().first() + static_cast<BlockId>(i),
                               [&](BlockId from) { return !post().isLocal(from); });
  }
  return blocks * segments_;
}

void ArrayMergeBytes::beginSegment() {
  const std::size_t offset = bytes(segment(begun_).begin);
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    promote(post().first() + static_cast<BlockId>(i), 0, begun_, buffers_[i] + offset);
  }
  ++begun_;
  combineReady();
}

void ArrayMergeBytes::accept(BlockMessage&& message) {
  const auto round = static_cast<int>(message.round);
  const bool merges = message.from != message.to &&
                      rounds().first(message.from, round) == message.from &&
                      rounds().first(message.from, round + 1) == message.to;
  if (!merges || message.segment < 0 || message.segment >= segments_ ||
      (!message.failed && message.payload.size() != bytes(segment(message.segment).size()))) {
    refuseMessage("block " + std::to_string(message.from) + " sends block " +
                  std::to_string(message.to) + " " + std::to_string(message.payload.size()) +
                  " bytes in round " + std::to_string(round) + ", segment " +
                  std::to_string(message.segment) + " of a merge reduction of arrays");
  }
  if (message.failed) skip();
  std::byte* elements = message.payload.data();
  meet({message.to, round, message.segment}, message.from, elements, std::move(message.payload));
}

void ArrayMergeBytes::promote(BlockId block, int round, std::int64_t segment, std::byte* elements) {
  if (round == rounds().count()) {
    partDone();
    return;
  }
  const BlockId first = rounds().first(block, round + 1);
  if (first != block) partDone();
  if (post().isLocal(first)) {
    meet({first, round, segment}, block, elements, {});
  } else {
    post().sendFrom({block, first, round, {}, false, segment},
                    {elements, bytes(this->segment(segment).size())});
    passedOn(block, segment) = true;
  }
}

void ArrayMergeBytes::meet(const Place& place, BlockId from, std::byte* elements, Bytes&& message) {
  const auto [first, round, segment] = place;
  Meeting& meeting = meetings_[place];
  if (meeting.tree.size() == 0) {
    const int groups = rounds().meeting(first, round);
    meeting.tree = GroupTree(groups);
    meeting.from.resize(static_cast<std::size_t>(groups));
    meeting.arrived.resize(static_cast<std::size_t>(groups));
  }
  const auto group = static_cast<int>((from - first) / rounds().span(round));
  if (meeting.tree.has(group)) {
    refuseMessage("a duplicate from block " + std::to_string(from) + " in round " +
                  std::to_string(round) + ", segment " + std::to_string(segment));
  }
  meeting.from[static_cast<std::size_t>(group)] = elements;
  meeting.arrived[static_cast<std::size_t>(group)] = std::move(message);
  arrived(place, meeting, group);
}

void ArrayMergeBytes::arrived(const Place& place, Meeting& meeting, int group) {
  if (meeting.tree.arrived(group)) {
    const auto [lower, upper] = meeting.tree.pair();
    ready_.push_back({place, &meeting, lower, upper});
  } else if (meeting.tree.complete()) {
    const auto [first, round, segment] = place;
    std::byte* elements = meeting.from.front();
    meetings_.erase(place);
    promote(first, round + 1, segment, elements);
  }
}

void ArrayMergeBytes::combineReady() {
  while (!ready_.empty()) {
    const std::vector<Ready> ready = std::exchange(ready_, {});
    std::vector<Pair> pairs;
    for (const Ready& pair : ready) {
      std::byte* lower = pair.meeting->from[static_cast<std::size_t>(pair.lower)];
      pairs.push_back({lower, pair.meeting->from[static_cast<std::size_t>(pair.upper)], lower,
                       segment(std::get<2>(pair.place)).size()});
    }
    combine(pairs);
    for (const Ready& pair : ready) {
      // Free the memory while it is in the cache: the next message reuses it.
      pair.meeting->arrived[static_cast<std::size_t>(pair.upper)] = Bytes();
      arrived(pair.place, *pair.meeting, pair.lower);
    }
  }
}

}  // namespace tributary
