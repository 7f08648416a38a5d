// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

namespace tributary {

/// The finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), a hash function. A bijection
/// in which every input bit affects every output bit.
[[nodiscard]] inline std::uint64_t scramble(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// The random number generator SplitMix64: advances the state and returns the next number.
inline std::uint64_t nextRandom(std::uint64_t& state) {
  return scramble(std::exchange(state, state + 0x9e3779b97f4a7c15ull));
}

/// The bits of a coordinate, for hashing; those of 0 for -0, so that equal coordinates have equal
/// bits.
[[nodiscard]] inline std::uint64_t coordinateBits(double coordinate) {
  const double value = coordinate + 0.0;
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

}  // namespace tributary
