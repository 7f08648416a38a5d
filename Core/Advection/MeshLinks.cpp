#include "Tributary/Advection/MeshLinks.h"

#include <algorithm>
#include <cstring>

#include "Tributary/Bytes.h"
#include "Tributary/Transport/Collectives.h"

namespace tributary {
namespace {

/// Steele, Lea and Flood's SplitMix64 finaliser: every input bit moves every output bit.
std::uint64_t scramble(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// Open-addressing table from keys to the sides that have them.
class SideTable {
 public:
  explicit SideTable(const std::vector<FaceSide>& sides) : sides_(sides) {
    std::size_t size = 16;
    while (size < 2 * sides.size()) size *= 2;
    slots_.resize(size);
    for (std::size_t i = 0; i < sides.size(); ++i) insert(static_cast<std::int64_t>(i));
  }

  /// Calls pair(first, second) for keys with exactly two sides.
  template <class Pair>
  void forEachPair(Pair&& pair) const {
    for (const Slot& slot : slots_)
      if (slot.count == 2) pair(sides_[std::size_t(slot.first)], sides_[std::size_t(slot.second)]);
  }

 private:
  struct Slot {
    std::int64_t first = -1, second = -1;
    std::int32_t count = 0;
  };

  void insert(std::int64_t i) {
    const FaceKey& key = sides_[std::size_t(i)].key;
    for (std::size_t at = key.a & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      Slot& slot = slots_[at];
      if (slot.count == 0) {
        slot = {i, -1, 1};
        return;
      }
      if (!(sides_[std::size_t(slot.first)].key == key)) continue;
      if (slot.count == 1) slot.second = i;
      ++slot.count;
      return;
    }
  }

  const std::vector<FaceSide>& sides_;
  std::vector<Slot> slots_;
};

template <class T>
std::vector<Bytes> packed(const std::vector<std::vector<T>>& lists) {
  std::vector<Bytes> messages;
  for (const auto& list : lists) messages.push_back(Writer().range(list).take());
  return messages;
}

}  // namespace

std::uint64_t pointHash(std::int64_t globalId) {
  return scramble(static_cast<std::uint64_t>(globalId));
}

std::uint64_t pointHash(const double coordinates[3]) {
  std::uint64_t hash = 0;
  for (int a = 0; a < 3; ++a) {
    const double c = coordinates[a] + 0.0;  // -0 becomes 0
    std::uint64_t bits;
    std::memcpy(&bits, &c, sizeof bits);
    hash = scramble(hash ^ bits);
  }
  return hash;
}

bool faceKey(std::uint64_t* hashes, int count, int least, FaceKey& key) {
  std::sort(hashes, hashes + count);
  count = static_cast<int>(std::unique(hashes, hashes + count) - hashes);
  if (count < least) return false;
  key = {};
  for (int i = 0; i < count; ++i) {
    key.a = scramble(key.a ^ hashes[i]);
    key.b = scramble(key.b + (hashes[i] ^ 0x5851f42d4c957f2dull));
  }
  return true;
}

std::vector<std::uint64_t> heldElsewhere(Transport& transport, std::vector<std::uint64_t> mine) {
  if (transport.size() == 1) return {};
  std::sort(mine.begin(), mine.end());
  mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
  const auto ranks = static_cast<std::size_t>(transport.size());
  std::vector<std::vector<std::uint64_t>> toRank(ranks);
  for (const auto hash : mine) toRank[hash % ranks].push_back(hash);
  mine = {};

  struct Asked {
    std::uint64_t hash;
    std::size_t asker;
  };
  std::vector<Asked> asked;
  const auto questions = exchangeBytes(transport, packed(toRank));
  toRank.assign(ranks, {});
  for (std::size_t rank = 0; rank < ranks; ++rank)
    for (const auto hash : Reader(questions[rank]).range<std::uint64_t>())
      asked.push_back({hash, rank});
  std::sort(asked.begin(), asked.end(),
            [](const Asked& a, const Asked& b) { return a.hash < b.hash; });
  for (std::size_t i = 0; i < asked.size(); ++i)
    if ((i > 0 && asked[i - 1].hash == asked[i].hash) ||
        (i + 1 < asked.size() && asked[i + 1].hash == asked[i].hash))
      toRank[asked[i].asker].push_back(asked[i].hash);
  for (const Bytes& bytes : exchangeBytes(transport, packed(toRank))) Reader(bytes).rangeInto(mine);
  std::sort(mine.begin(), mine.end());
  return mine;
}

std::vector<FacePair> matchFaces(Transport& transport, const std::vector<FaceSide>& inner,
                                 std::vector<FaceSide> outer) {
  std::vector<FacePair> pairs;
  SideTable(inner).forEachPair([&](const FaceSide& a, const FaceSide& b) {
    pairs.push_back({a, b});
    pairs.push_back({b, a});
  });

  const auto ranks = static_cast<std::size_t>(transport.size());
  std::vector<std::vector<FaceSide>> toRank(ranks);
  for (const FaceSide& side : outer) toRank[side.key.b % ranks].push_back(side);
  outer = {};
  std::vector<FaceSide> asked;
  std::vector<std::size_t> asker;
  const auto questions = exchangeBytes(transport, packed(toRank));
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    Reader(questions[rank]).rangeInto(asked);
    asker.resize(asked.size(), rank);
  }
  std::vector<std::vector<FacePair>> answers(ranks);
  SideTable(asked).forEachPair([&](const FaceSide& a, const FaceSide& b) {
    answers[asker[std::size_t(&a - asked.data())]].push_back({a, b});
    answers[asker[std::size_t(&b - asked.data())]].push_back({b, a});
  });
  for (const Bytes& bytes : exchangeBytes(transport, packed(answers)))
    Reader(bytes).rangeInto(pairs);
  return pairs;
}

}  // namespace tributary
