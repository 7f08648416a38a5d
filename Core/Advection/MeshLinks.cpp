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

  /// Calls pair(first, second) for keys with exactly two sides and single(side) for those with one.
  template <class Pair, class Single>
  void forEach(Pair&& pair, Single&& single) const {
    for (const Slot& slot : slots_) {
      if (slot.count == 2)
        pair(sides_[std::size_t(slot.first)], sides_[std::size_t(slot.second)]);
      else if (slot.count == 1)
        single(sides_[std::size_t(slot.first)]);
    }
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

std::vector<FacePair> matchFaces(Transport& transport, std::vector<FaceSide> sides) {
  std::vector<FacePair> pairs;
  std::vector<std::vector<FaceSide>> toRank(static_cast<std::size_t>(transport.size()));
  const auto ranks = static_cast<std::uint64_t>(transport.size());
  SideTable(sides).forEach(
      [&](const FaceSide& a, const FaceSide& b) {
        pairs.push_back({a, b});
        pairs.push_back({b, a});
      },
      [&](const FaceSide& side) { toRank[side.key.b % ranks].push_back(side); });
  if (transport.size() == 1) return pairs;
  sides = {};

  const auto pack = [](const auto& lists) {
    std::vector<Bytes> messages;
    for (const auto& list : lists) messages.push_back(Writer().range(list).take());
    return messages;
  };
  std::vector<FaceSide> asked;
  std::vector<std::size_t> asker;
  const auto questions = exchangeBytes(transport, pack(toRank));
  for (std::size_t rank = 0; rank < questions.size(); ++rank) {
    Reader(questions[rank]).rangeInto(asked);
    asker.resize(asked.size(), rank);
  }
  std::vector<std::vector<FacePair>> answers(static_cast<std::size_t>(transport.size()));
  SideTable(asked).forEach(
      [&](const FaceSide& a, const FaceSide& b) {
        answers[asker[std::size_t(&a - asked.data())]].push_back({a, b});
        answers[asker[std::size_t(&b - asked.data())]].push_back({b, a});
      },
      [](const FaceSide&) {});
  for (const Bytes& bytes : exchangeBytes(transport, pack(answers))) Reader(bytes).rangeInto(pairs);
  return pairs;
}

}  // namespace tributary
