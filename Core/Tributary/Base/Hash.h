// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

namespace tributary {

/// Steele, Lea and Flood's SplitMix64 finalizer: every input bit moves every output bit, and no two
/// inputs give the same output.
inline std::uint64_t scramble(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// SplitMix64 itself: advances the state and returns the next random number.
inline std::uint64_t nextRandom(std::uint64_t& state) {
  return scramble(std::exchange(state, state + 0x9e3779b97f4a7c15ull));
}

/// What is hashed of a coordinate: its bits, those of 0 for -0, which is the same place.
inline std::uint64_t coordinateBits(double coordinate) {
  const double value = coordinate + 0.0;
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

}  // namespace tributary
