// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Components/CoincidentPoints.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <type_traits>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/HugePages.h"

namespace tributary {
namespace {

template <class Real>
using BitsOf = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;

/// A point's coordinates as bits; adding 0 makes -0 to 0.
template <class Real>
std::array<BitsOf<Real>, 3> bitsOf(const Real* point) {
  std::array<BitsOf<Real>, 3> bits;
  for (std::size_t a = 0; a < 3; ++a) {
    const Real x = point[a] + Real(0);
    std::memcpy(&bits[a], &x, sizeof x);
  }
  return bits;
}

/// Coordinates of lattices differ in few bits: all must reach all of the hash (the mixing of
/// Steele's SplitMix64).
template <class Bits>
std::uint64_t hashOf(const std::array<Bits, 3>& bits) {
  std::uint64_t x = 0;
  for (const Bits b : bits) {
    x = (x ^ b) + 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
  }
  x *= 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/// A slot of the table: the upper half of the hash, then the point's number plus one; 0: free.
using Slot = std::uint64_t;
constexpr std::uint64_t Lower = 0xffffffffu;

/// Enters points [begin, end) in the table.
/// @tparam Alone  no other thread does so. Then `found` is set to the first equal points, as those
///                come in order; otherwise to their slots, which have them when all have finished.
template <bool Alone, class Real>
void enterPoints(const Real* points, std::int64_t begin, std::int64_t end, Slot* table,
                 std::size_t size, std::int64_t* found) {
  // Hashes of some points first, so that their slots are on their way from memory.
  constexpr std::int64_t Ahead = 32;
  std::array<std::uint64_t, Ahead> hashes;
  for (std::int64_t block = begin; block < end; block += Ahead) {
    const std::int64_t blockEnd = std::min(block + Ahead, end);
    for (std::int64_t i = block; i < blockEnd; ++i) {
      const std::uint64_t hash = hashOf(bitsOf(points + 3 * i));
      hashes[std::size_t(i - block)] = hash;
      __builtin_prefetch(table + (hash & (size - 1)), 1);
    }
    for (std::int64_t i = block; i < blockEnd; ++i) {
      const std::uint64_t hash = hashes[std::size_t(i - block)];
      const Slot mine = (hash & ~Lower) | std::uint64_t(i + 1);
      for (std::size_t at = hash & (size - 1);; at = (at + 1) & (size - 1)) {
        Slot seen = __atomic_load_n(table + at, __ATOMIC_RELAXED);
        if (seen == 0) {
          if constexpr (Alone) {
            table[at] = seen = mine;
          } else if (__atomic_compare_exchange_n(table + at, &seen, mine, false, __ATOMIC_RELAXED,
                                                 __ATOMIC_RELAXED)) {
            seen = mine;
          }
        }
        if ((seen ^ mine) & ~Lower) continue;
        const auto other = std::int64_t(seen & Lower) - 1;
        if (other != i && bitsOf(points + 3 * other) != bitsOf(points + 3 * i)) continue;
        // The same point. The slot keeps the first.
        while (!Alone && seen > mine &&
               !__atomic_compare_exchange_n(table + at, &seen, mine, false, __ATOMIC_RELAXED,
                                            __ATOMIC_RELAXED)) {
        }
        found[i] = Alone ? other : std::int64_t(at);
        break;
      }
    }
  }
}

}  // namespace

template <class Real>
std::vector<std::int64_t> mergeCoincident(Span<const Real> points, const ParallelFor& parallelFor) {
  if (points.size() % 3)
    throw Error(std::to_string(points.size()) +
                " coordinates are not a multiple of 3; give three for each point");
  const auto count = static_cast<std::int64_t>(points.size() / 3);
  if (count >= std::int64_t(1) << 31)
    throw Error("a block has " + std::to_string(count) +
                " points, too many to compare; cut it into smaller blocks");
  std::size_t size = 16;
  while (size < std::size_t(count) + std::size_t(count) / 2) size *= 2;
  const HugePages memory(size * sizeof(Slot));
  Slot* const table = reinterpret_cast<Slot*>(memory.data());
  parallelFor(std::int64_t(size), [&](std::int64_t begin, std::int64_t end) {
    std::fill(table + begin, table + end, Slot(0));
  });
  std::vector<std::int64_t> slotOf(static_cast<std::size_t>(count));
  bool alone = false;
  parallelFor(count, [&](std::int64_t begin, std::int64_t end) {
    if (begin == 0 && end == count) {
      alone = true;
      enterPoints<true>(points.data(), begin, end, table, size, slotOf.data());
    } else {
      enterPoints<false>(points.data(), begin, end, table, size, slotOf.data());
    }
  });
  if (alone) return slotOf;
  parallelFor(count, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      if (i + 16 < end) __builtin_prefetch(table + slotOf[std::size_t(i) + 16]);
      slotOf[std::size_t(i)] = std::int64_t(table[slotOf[std::size_t(i)]] & Lower) - 1;
    }
  });
  return slotOf;
}

template std::vector<std::int64_t> mergeCoincident(Span<const float>, const ParallelFor&);
template std::vector<std::int64_t> mergeCoincident(Span<const double>, const ParallelFor&);

}  // namespace tributary
