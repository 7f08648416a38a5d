// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Components/LatticeMask.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include "Tributary/Base/Error.h"

namespace tributary {
namespace {

/// Eight bytes of 0 or 1 as bits of one byte, the first lowest.
std::uint64_t bitsOf(const std::uint8_t* bytes) {
  std::uint64_t word;
  std::memcpy(&word, bytes, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  return word * 0x0102040810204080u >> 56;
}

/// The bits of up to 64 elements. The loops over all 64 are made of vector instructions.
template <class Test>
std::uint64_t maskWord(std::int64_t count, const Test& test) {
  std::uint8_t in[64] = {};
  if (count >= 64)
    for (int i = 0; i < 64; ++i) in[i] = test(i);
  else
    for (int i = 0; i < count; ++i) in[i] = test(i);
  std::uint64_t word = 0;
  for (int i = 0; i < 8; ++i) word |= bitsOf(in + 8 * i) << 8 * i;
  return word;
}

/// The least and the largest value of T in [lo, hi]. @return false if there is none
template <class T>
bool narrow(double lo, double hi, T& least, T& largest) {
  using Limits = std::numeric_limits<T>;
  if (!(lo <= hi)) return false;
  if constexpr (std::is_same_v<T, double>) {
    least = lo, largest = hi;
  } else if constexpr (std::is_same_v<T, float>) {
    const auto nearest = [](double x) {
      return x > double(Limits::max())      ? Limits::infinity()
             : x < double(Limits::lowest()) ? -Limits::infinity()
                                            : static_cast<float>(x);
    };
    least = nearest(lo), largest = nearest(hi);
    if (double(least) < lo) least = std::nextafter(least, Limits::infinity());
    if (double(largest) > hi) largest = std::nextafter(largest, -Limits::infinity());
  } else {
    // One past the largest value is a power of two: exact in double, as is the least value.
    const double end = std::ldexp(1.0, Limits::digits), first = double(Limits::min());
    lo = std::ceil(lo), hi = std::floor(hi);
    if (lo >= end || hi < first) return false;
    least = lo < first ? Limits::min() : static_cast<T>(lo);
    largest = hi >= end ? Limits::max() : static_cast<T>(hi);
  }
  return least <= largest;
}

}  // namespace

std::int64_t maskWords(const LatticeSize& size) {
  for (const auto n : size)
    if (n < 0)
      throw Error("a lattice has a negative size of " + std::to_string(n) + "; give at least 0");
  if (size[0] > std::numeric_limits<std::int32_t>::max())
    throw Error("a lattice has rows of " + std::to_string(size[0]) +
                " elements; cut it into blocks with rows of at most 2^31 - 1");
  std::int64_t rows, elements;
  if (__builtin_mul_overflow(size[1], size[2], &rows) ||
      __builtin_mul_overflow(rows, size[0], &elements))
    throw Error("a lattice has more elements than 64 bits can count; cut it into smaller blocks");
  return rows * maskWords(size[0]);
}

template <class T>
void rangeMask(const T* values, std::int64_t rowLength, std::int64_t rows, double lo, double hi,
               std::uint64_t* mask, const ParallelFor& parallelFor) {
  const std::int64_t words = maskWords(rowLength);
  T least{}, largest{};
  if (!narrow(lo, hi, least, largest)) {
    std::fill(mask, mask + words * rows, 0);
    return;
  }
  parallelFor(words * rows, [&](std::int64_t begin, std::int64_t end) {
    const T first = least, last = largest;  // registers, not the closure's memory
    std::int64_t row = begin / words, word = begin % words;
    for (std::int64_t i = begin; i < end; ++i) {
      const T* const v = values + row * rowLength + 64 * word;
      mask[i] = maskWord(rowLength - 64 * word,
                         [=](int k) { return bool((v[k] >= first) & (v[k] <= last)); });
      if (++word == words) word = 0, ++row;
    }
  });
}

#define TRIBUTARY_RANGE_MASK(T)                                                                 \
  template void rangeMask(const T*, std::int64_t, std::int64_t, double, double, std::uint64_t*, \
                          const ParallelFor&)
TRIBUTARY_RANGE_MASK(float);
TRIBUTARY_RANGE_MASK(double);
TRIBUTARY_RANGE_MASK(char);
TRIBUTARY_RANGE_MASK(signed char);
TRIBUTARY_RANGE_MASK(unsigned char);
TRIBUTARY_RANGE_MASK(short);
TRIBUTARY_RANGE_MASK(unsigned short);
TRIBUTARY_RANGE_MASK(int);
TRIBUTARY_RANGE_MASK(unsigned int);
TRIBUTARY_RANGE_MASK(long);
TRIBUTARY_RANGE_MASK(unsigned long);
TRIBUTARY_RANGE_MASK(long long);
TRIBUTARY_RANGE_MASK(unsigned long long);
#undef TRIBUTARY_RANGE_MASK

LatticeSize cellsOf(const LatticeSize& pointSize) {
  LatticeSize cells;
  for (std::size_t a = 0; a < 3; ++a) cells[a] = pointSize[a] > 1 ? pointSize[a] - 1 : pointSize[a];
  return cells;
}

std::vector<std::uint64_t> cellMask(Span<const std::uint64_t> pointMask,
                                    const LatticeSize& pointSize, bool all,
                                    const ParallelFor& parallelFor) {
  if (std::int64_t(pointMask.size()) != maskWords(pointSize))
    throw Error("a mask has " + std::to_string(pointMask.size()) +
                " words, but its lattice needs " + std::to_string(maskWords(pointSize)) +
                "; give a mask of the lattice's size");
  const LatticeSize size = cellsOf(pointSize);
  const std::int64_t words = maskWords(size[0]), pointWords = maskWords(pointSize[0]);
  std::vector<std::uint64_t> mask(static_cast<std::size_t>(maskWords(size)));
  const std::int64_t upY = pointSize[1] > 1 ? pointWords : 0,
                     upZ = pointSize[2] > 1 ? pointWords * pointSize[1] : 0;
  parallelFor(size[1] * size[2], [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::uint64_t* const p =
          pointMask.data() + (row / size[1] * pointSize[1] + row % size[1]) * pointWords;
      const auto corners = [&](std::int64_t w) {
        if (w >= pointWords) return std::uint64_t(0);
        const std::uint64_t a = p[w], b = p[w + upY], c = p[w + upZ], d = p[w + upY + upZ];
        return all ? a & b & c & d : a | b | c | d;
      };
      std::uint64_t* const out = mask.data() + row * words;
      for (std::int64_t w = 0; w < words; ++w) {
        std::uint64_t bits = corners(w);
        if (pointSize[0] > 1) {
          const std::uint64_t right = bits >> 1 | corners(w + 1) << 63;
          bits = all ? bits & right : bits | right;
        }
        out[w] = bits;
      }
      if (size[0] % 64) out[words - 1] &= ~std::uint64_t(0) >> (64 - size[0] % 64);
    }
  });
  return mask;
}

void clearFlagged(std::uint64_t* mask, const LatticeSize& size, const std::uint8_t* flags,
                  std::uint8_t bits, const ParallelFor& parallelFor) {
  const std::int64_t words = maskWords(size[0]);
  parallelFor(size[1] * size[2], [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row)
      for (std::int64_t w = 0; w < words; ++w) {
        const std::uint8_t* const f = flags + row * size[0] + 64 * w;
        mask[row * words + w] &=
            ~maskWord(size[0] - 64 * w, [=](int k) { return (f[k] & bits) != 0; });
      }
  });
}

}  // namespace tributary
