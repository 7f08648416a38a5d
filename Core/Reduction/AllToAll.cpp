#include "Tributary/Reduction/AllToAll.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "Tributary/Error.h"

namespace tributary {

AllToAll::AllToAll(Transport& transport, const Assignment& assignment, KValues kValues)
    : ReductionMachine(transport, assignment, std::move(kValues)) {
  if (!rounds().isFull()) {
    throw Error("all-to-all: the k-values do not connect all " + std::to_string(rounds().blocks()) +
                " blocks; their product must be at least that");
  }
}

void AllToAll::start(std::vector<std::vector<Parcel>> parcels) {
  for (const auto& ofBlock : parcels) {
    for (const Parcel& parcel : ofBlock) {
      if (assignment().exists(parcel.block)) continue;
      throw Error("all-to-all: a parcel is for block " + std::to_string(parcel.block) +
                  ", but blocks are numbered from 0 to " + std::to_string(rounds().blocks() - 1));
    }
  }
  begin(parcels.size());
  blocks_.clear();
  blocks_.resize(parcels.size());
  unfinished_ = parcels.size();
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    blocks_[i].id = post().first() + static_cast<BlockId>(i);
    std::int64_t number = 0;
    for (Parcel& parcel : parcels[i]) {
      blocks_[i].parcels.push_back(
          {blocks_[i].id, parcel.block, number++, std::move(parcel.bytes)});
    }
  }
  for (Block& block : blocks_) {
    startRound(block);
    proceed(block);
  }
}

bool AllToAll::turn() {
  bool moved = false;
  while (auto message = post().receive()) {
    moved = true;
    Block& block = blocks_[post().localIndex(message->to)];
    accept(std::move(*message));
    proceed(block);
  }
  return moved;
}

// The buffer is as long as there are blocks, and a block's element is the part that it has in the
// end. Every block whose part before the round overlaps another's after it sends that one a
// message.
void AllToAll::startRound(Block& block) {
  const int round = block.round;
  if (round == rounds().count()) {
    --unfinished_;
    return;
  }
  const std::int64_t length = rounds().blocks();
  const BlockId first = rounds().first(block.id, round + 1);
  const std::int64_t members = rounds().members(first, round + 1);
  const Interval own = rounds().part(block.id, round, length);
  const std::int64_t begin = Rounds::placeOf(own.begin, members, length);
  const std::int64_t end = Rounds::placeOf(own.end - 1, members, length) + 1;
  std::vector<std::vector<Travelling*>> leaving(static_cast<std::size_t>(end - begin));
  for (Travelling& parcel : block.parcels) {
    const std::int64_t element = rounds().place(parcel.to, rounds().count());
    const std::int64_t place = Rounds::placeOf(element, members, length);
    leaving[static_cast<std::size_t>(place - begin)].push_back(&parcel);
  }
  std::vector<Travelling> staying;
  for (std::int64_t place = begin; place < end; ++place) {
    const auto& parcels = leaving[static_cast<std::size_t>(place - begin)];
    const BlockId to = rounds().blockAt(first, place, round + 1);
    if (to == block.id) {
      for (Travelling* parcel : parcels) staying.push_back(std::move(*parcel));
      continue;
    }
    std::size_t bytes = 0;
    for (const Travelling* parcel : parcels) bytes += parcel->bytes.size() + 4 * sizeof(BlockId);
    Writer writer;
    writer.reserve(bytes + BlockPost::Tail);
    for (Travelling* parcel : parcels) {
      writer.value(parcel->from).value(parcel->to).value(parcel->number).range(parcel->bytes);
      parcel->bytes = Bytes();
    }
    post().send({block.id, to, round, writer.take()});
  }
  block.parcels = std::move(staying);

  // Who sends to this block: one of each group at least.
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
  for (BlockMessage& message : std::exchange(block.early, {})) accept(std::move(message));
}

void AllToAll::proceed(Block& block) {
  while (block.round < rounds().count() && block.missing == 0) {
    ++block.round;
    startRound(block);
  }
}

void AllToAll::accept(BlockMessage&& message) {
  Block& block = blocks_[post().localIndex(message.to)];
  if (message.round > block.round) {
    block.early.push_back(std::move(message));
    return;
  }
  if (message.round < block.round || block.missing == 0) {
    throw Error("malformed message: block " + std::to_string(message.from) +
                " sends more than once in round " + std::to_string(message.round) +
                " of an all-to-all");
  }
  --block.missing;
  const std::int64_t length = rounds().blocks();
  const Interval mine = rounds().part(block.id, block.round + 1, length);
  Reader reader(message.payload);
  while (!reader.atEnd()) {
    Travelling parcel{};
    parcel.from = reader.value<BlockId>();
    parcel.to = reader.value<BlockId>();
    parcel.number = reader.value<std::int64_t>();
    reader.rangeInto(parcel.bytes);
    const bool known = assignment().exists(parcel.from) && assignment().exists(parcel.to);
    const std::int64_t element = known ? rounds().place(parcel.to, rounds().count()) : -1;
    if (element < mine.begin || element >= mine.end) {
      throw Error("malformed message: a parcel for block " + std::to_string(parcel.to) +
                  " went astray in an all-to-all");
    }
    block.parcels.push_back(std::move(parcel));
  }
}

std::vector<std::vector<Parcel>> AllToAll::takeParcels() {
  std::vector<std::vector<Parcel>> result(blocks_.size());
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    auto& parcels = blocks_[i].parcels;
    std::sort(parcels.begin(), parcels.end(), [](const Travelling& a, const Travelling& b) {
      return std::tie(a.from, a.number) < std::tie(b.from, b.number);
    });
    for (Travelling& parcel : parcels) {
      result[i].push_back({parcel.from, std::move(parcel.bytes)});
    }
  }
  blocks_.clear();
  return result;
}

std::vector<std::vector<Parcel>> AllToAll::run(std::vector<std::vector<Parcel>> parcels) {
  start(std::move(parcels));
  finish();
  return takeParcels();
}

}  // namespace tributary
