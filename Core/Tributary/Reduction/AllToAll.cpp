// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Reduction/AllToAll.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"

namespace tributary {

using namespace detail;

namespace {

// Measured on simulated clusters: for small parcels and more blocks, one round is slower than
// several.
constexpr std::int64_t MostAtOnce = 32;
constexpr int KAmongMany = 16;

/// Describes a parcel in a message. The bytes of all parcels come first, then the labels, then the
/// number of parcels, so that the bytes of a single parcel are not moved.
struct Label {
  BlockId from;
  BlockId to;
  std::int64_t number;
  std::uint64_t bytes;
};
static_assert(sizeof(Label) + sizeof(std::uint64_t) + BlockPost::Tail <= AllToAll::Tail);

}  // namespace

KValues AllToAll::defaultKValues(std::int64_t blocks) {
  if (blocks <= 1) return {};
  if (blocks <= MostAtOnce) return {static_cast<int>(blocks)};
  return Rounds::full(blocks, KAmongMany);
}

AllToAll::AllToAll(Transport& transport, const Assignment& assignment, KValues kValues,
                   const ErrorCollector& errors)
    : ReductionMachine(transport, assignment, std::move(kValues), {}, errors) {
  if (!rounds().isFull()) {
    throw Error("all-to-all: the k-values do not connect all " + std::to_string(rounds().blocks()) +
                " blocks; their product must be at least this number");
  }
}

std::string AllToAll::parcelsError(const std::vector<std::vector<Parcel>>& parcels) const {
  for (const auto& ofBlock : parcels) {
    for (const Parcel& parcel : ofBlock) {
      if (assignment().exists(parcel.block)) continue;
      return "all-to-all: a parcel is for block " + std::to_string(parcel.block) +
             ", but blocks are numbered from 0 to " + std::to_string(rounds().blocks() - 1);
    }
  }
  return itemsError(parcels.size());
}

void AllToAll::start(std::vector<std::vector<Parcel>> parcels) {
  begin(parcels.size(), static_cast<std::int64_t>(parcels.size()), parcelsError(parcels));
  blocks_.clear();
  blocks_.resize(parcels.size());
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    blocks_[i].id = post().first() + static_cast<BlockId>(i);
    std::int64_t number = 0;
    for (Parcel& parcel : parcels[i]) {
      blocks_[i].parcels.push_back(
          {blocks_[i].id, parcel.block, number++, std::move(parcel.bytes)});
    }
  }
  attempt([&] {
    for (Block& block : blocks_) {
      startRound(block);
      proceed(block);
    }
    return true;
  });
}

void AllToAll::accept(BlockMessage&& message) {
  Block& block = blocks_[post().localIndex(message.to)];
  take(std::move(message));
  proceed(block);
}

// The buffer has one element for each block, and the element of a block is its part at the end. A
// block sends a message to each block whose part after the round overlaps its part before the
// round.
void AllToAll::startRound(Block& block) {
  const int round = block.round;
  if (round == rounds().count()) {
    partDone();
    return;
  }
  const std::int64_t length = rounds().blocks();
  const BlockId first = rounds().first(block.id, round + 1);
  const std::int64_t members = rounds().members(first, round + 1);
  const Interval own = rounds().part(block.id, round, length);
  const std::int64_t begin = Rounds::placeOf(own.begin, members, length);
  const std::int64_t end = Rounds::placeOf(own.end - 1, members, length) + 1;
  std::vector<std::vector<Traveling*>> leaving(static_cast<std::size_t>(end - begin));
  for (Traveling& parcel : block.parcels) {
    const std::int64_t element = rounds().place(parcel.to, rounds().count());
    const std::int64_t place = Rounds::placeOf(element, members, length);
    leaving[static_cast<std::size_t>(place - begin)].push_back(&parcel);
  }
  std::vector<Traveling> staying;
  // Allocate all messages before sending any: giveUp() sends all messages of a round or none.
  std::vector<BlockMessage> messages;
  for (std::int64_t place = begin; place < end; ++place) {
    const auto& parcels = leaving[static_cast<std::size_t>(place - begin)];
    const BlockId to = rounds().blockAt(first, place, round + 1);
    if (to == block.id) {
      for (Traveling* parcel : parcels) staying.push_back(std::move(*parcel));
      continue;
    }
    messages.push_back({block.id, to, round, packed(parcels), false});
  }
  for (BlockMessage& message : messages) post().send(std::move(message));
  block.parcels = std::move(staying);
  ++block.roundsSent;

  // The number of blocks that send to this one: at least one of each group.
  const Interval after = rounds().part(block.id, round + 1, length);
  block.missing = 0;
  for (int group = 0; group < rounds().meeting(first, round); ++group) {
    const BlockId start = first + group * rounds().span(round);
    const std::int64_t size = rounds().members(start, round);
    const std::int64_t from = Rounds::placeOf(after.begin, size, length);
    const std::int64_t to = Rounds::placeOf(after.end - 1, size, length) + 1;
    block.missing += static_cast<std::size_t>(to - from);
    const std::int64_t self = block.id - start;
    if (self < 0 || self >= size) continue;
    const std::int64_t place = rounds().place(block.id, round);
    if (place >= from && place < to) --block.missing;
  }
  for (BlockMessage& message : std::exchange(block.early, {})) take(std::move(message));
}

void AllToAll::proceed(Block& block) {
  while (block.round < rounds().count() && block.missing == 0) {
    ++block.round;
    startRound(block);
  }
}

void AllToAll::take(BlockMessage&& message) {
  Block& block = blocks_[post().localIndex(message.to)];
  // A message of an impossible round must not be kept: the expected one will never arrive.
  if (rounds()
          .exchanged(message.from, message.to, static_cast<int>(message.round), rounds().blocks())
          .empty()) {
    refuseMessage("block " + std::to_string(message.from) + " sends nothing to block " +
                  std::to_string(message.to) + " in round " + std::to_string(message.round) +
                  " of an all-to-all");
  }
  if (message.round > block.round) {
    block.early.push_back(std::move(message));
    return;
  }
  if (message.round < block.round || block.missing == 0) {
    refuseMessage("block " + std::to_string(message.from) + " sends more than once in round " +
                  std::to_string(message.round) + " of an all-to-all");
  }
  --block.missing;
  if (message.failed) {
    skip();
  } else {
    unpack(std::move(message), block);
  }
}

Bytes AllToAll::packed(const std::vector<Traveling*>& parcels) {
  std::vector<Label> labels;
  std::size_t bytes = 0;
  for (const Traveling* parcel : parcels) {
    labels.push_back({parcel->from, parcel->to, parcel->number, parcel->bytes.size()});
    bytes += parcel->bytes.size();
  }
  Bytes packed;
  if (parcels.size() == 1) {
    packed = std::move(parcels.front()->bytes);
  } else {
    packed.reserve(bytes + labels.size() * sizeof(Label) + Tail);
    for (Traveling* parcel : parcels) {
      append(packed, parcel->bytes.data(), parcel->bytes.size());
      parcel->bytes = Bytes();
    }
  }
  append(packed, labels.data(), labels.size() * sizeof(Label));
  const std::uint64_t count = labels.size();
  append(packed, &count, sizeof count);
  return packed;
}

void AllToAll::unpack(BlockMessage&& message, Block& block) {
  const auto refuse = [&](const std::string& what) {
    refuseMessage(what + " from block " + std::to_string(message.from) + " to block " +
                  std::to_string(message.to) + " in an all-to-all");
  };
  Bytes& bytes = message.payload;
  std::uint64_t count = 0;
  if (bytes.size() < sizeof count) refuse("a missing number of parcels");
  std::memcpy(&count, bytes.data() + bytes.size() - sizeof count, sizeof count);
  std::size_t left = bytes.size() - sizeof count;
  if (count > left / sizeof(Label)) refuse("too many parcels");
  std::vector<Label> labels(static_cast<std::size_t>(count));
  left -= labels.size() * sizeof(Label);
  if (count > 0) std::memcpy(labels.data(), bytes.data() + left, labels.size() * sizeof(Label));
  const Interval mine = rounds().part(block.id, block.round + 1, rounds().blocks());
  std::size_t at = 0;
  for (const Label& label : labels) {
    const bool known = assignment().exists(label.from) && assignment().exists(label.to);
    const std::int64_t element = known ? rounds().place(label.to, rounds().count()) : -1;
    if (element < mine.begin || element >= mine.end) refuse("a parcel of another block");
    if (label.bytes > left - at) refuse("a parcel that is too long");
    Traveling parcel{label.from, label.to, label.number, {}};
    const auto size = static_cast<std::size_t>(label.bytes);
    if (count == 1) {
      parcel.bytes = std::move(bytes);  // NOLINT(bugprone-use-after-move): the only one
      parcel.bytes.resize(size);
    } else {
      parcel.bytes.reserve(size + Tail);
      append(parcel.bytes, bytes.data() + at, size);
    }
    at += size;
    block.parcels.push_back(std::move(parcel));
  }
  if (at != left) refuse("bytes that belong to no parcel");
}

std::vector<std::vector<Parcel>> AllToAll::takeParcels() {
  std::vector<std::vector<Parcel>> result(blocks_.size());
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    auto& parcels = blocks_[i].parcels;
    std::sort(parcels.begin(), parcels.end(), [](const Traveling& a, const Traveling& b) {
      return std::tie(a.from, a.number) < std::tie(b.from, b.number);
    });
    for (Traveling& parcel : parcels) {
      result[i].push_back({parcel.from, std::move(parcel.bytes)});
    }
  }
  blocks_.clear();
  return result;
}

std::vector<std::vector<Parcel>> AllToAll::run(std::vector<std::vector<Parcel>> parcels) {
  agreeOnError(transport(), parcelsError(parcels));
  start(std::move(parcels));
  finish();
  return takeParcels();
}

std::vector<Bytes> allToAll(Transport& transport, std::vector<Bytes> toEachRank) {
  return allToAll(transport, std::move(toEachRank), AllToAll::defaultKValues(transport.size()));
}

std::vector<Bytes> allToAll(Transport& transport, std::vector<Bytes> toEachRank,
                            ErrorCollector& errors) {
  return allToAll(transport, std::move(toEachRank), AllToAll::defaultKValues(transport.size()),
                  errors);
}

std::vector<Bytes> allToAll(Transport& transport, std::vector<Bytes> toEachRank, KValues kValues) {
  ErrorCollector errors;
  return allToAll(transport, std::move(toEachRank), std::move(kValues), errors);
}

std::vector<Bytes> allToAll(Transport& transport, std::vector<Bytes> toEachRank, KValues kValues,
                            ErrorCollector& errors) {
  if (transport.size() == 1 && toEachRank.size() <= 1) {  // no k-value is needed
    errors.attempt([&] { toEachRank.resize(1); });
    errors.agree(transport);
    return toEachRank;
  }
  const auto ranks = static_cast<std::size_t>(transport.size());
  std::vector<std::vector<Parcel>> parcels;
  std::vector<Bytes> fromEachRank;
  std::vector<std::int64_t> blocksOfRanks;
  errors.attempt([&] {
    if (toEachRank.size() != ranks && !toEachRank.empty())
      throw Error("all-to-all: " + std::to_string(toEachRank.size()) + " buffers for " +
                  std::to_string(ranks) + " ranks; pass one for each rank");
    parcels.resize(1);
    for (std::size_t rank = 0; rank < toEachRank.size(); ++rank) {
      if (toEachRank[rank].empty()) continue;
      parcels[0].push_back({static_cast<BlockId>(rank), std::move(toEachRank[rank])});
    }
    fromEachRank.resize(ranks);
    blocksOfRanks.assign(ranks, 1);
  });
  AllToAll exchange(transport, Assignment(blocksOfRanks), std::move(kValues), errors);
  exchange.start(std::move(parcels));
  exchange.wait();
  agreeOnError(transport, exchange.error());
  parcels = exchange.takeParcels();
  for (Parcel& parcel : parcels.front()) {
    fromEachRank[static_cast<std::size_t>(parcel.block)] = std::move(parcel.bytes);
  }
  return fromEachRank;
}

}  // namespace tributary
