// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The vectors of the instruction set that a file is compiled for (GCC's and Clang's extension), and
// the operations on them that the language lacks. A function of this file does the same operation
// for one number and for a vector, so that templates of either give the same bits.
//
// One name, one definition. The library compiles its kernels once for each instruction set, from
// the same headers and with different compiler options. Everything in these headers (this one,
// Stepper.h, ParticlePack.h, MeshCell.inl and PyramidPack.inl in detail/kernels) is therefore in an
// inline namespace named TRIBUTARY_KERNEL_NAMESPACE: a function for one instruction set has another
// symbol than the same function for another one, and the linker cannot exchange them. The source
// files of kernels define the macro before they include anything (kernel_baseline, kernel_avx2,
// kernel_avx512). All other files get the default, which names the instruction set that they are
// compiled for: code of a user cannot replace code of the library's kernels. Users write
// tributary::feed() in any case.

#include <cstdint>
#include <cstring>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#ifndef TRIBUTARY_KERNEL_NAMESPACE
#if defined(__AVX512F__) && defined(__AVX512DQ__)
#define TRIBUTARY_KERNEL_NAMESPACE avx512
#elif defined(__AVX2__)
#define TRIBUTARY_KERNEL_NAMESPACE avx2
#else
#define TRIBUTARY_KERNEL_NAMESPACE baseline
#endif
#endif

namespace tributary {
inline namespace TRIBUTARY_KERNEL_NAMESPACE {

/// The number of values that one instruction processes.
#if defined(__AVX512F__) && defined(__AVX512DQ__)
constexpr int Width = 8;
#elif defined(__AVX2__)
constexpr int Width = 4;
#else
constexpr int Width = 2;
#endif

/// One double per lane.
typedef double Wide __attribute__((vector_size(8 * Width)));
/// Also the type of comparisons: all bits of a lane are set, or none.
typedef std::int64_t WideInt __attribute__((vector_size(8 * Width)));
/// The bit patterns of the lanes of a Wide.
typedef std::uint64_t WideBits __attribute__((vector_size(8 * Width)));
/// One bit per lane.
using LaneSet = unsigned;
/// The set of all lanes.
constexpr LaneSet AllLanes = (1u << Width) - 1;

/// x, y, z and an unused lane in one vector.
typedef double V4 __attribute__((vector_size(32)));

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TRIBUTARY_INLINE inline  // functions full of checks in one another take minutes to compile
#else
#define TRIBUTARY_INLINE inline __attribute__((always_inline))
#endif

/// Reads 4 values. No alignment is required.
TRIBUTARY_INLINE V4 load(const double* p) {
  V4 v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
/// Writes 4 values. No alignment is required.
TRIBUTARY_INLINE void store(double* p, V4 v) {
  std::memcpy(p, &v, sizeof v);
}
/// The same value in all 4 elements.
TRIBUTARY_INLINE V4 splat(double s) {
  return V4{s, s, s, s};
}

/// The square root.
TRIBUTARY_INLINE double root(double v) {
  return __builtin_sqrt(v);
}
/// The absolute value.
TRIBUTARY_INLINE double magnitude(double v) {
  return __builtin_fabs(v);
}
/// The largest integer that is not greater.
TRIBUTARY_INLINE double floored(double v) {
  return __builtin_floor(v);
}
/// `yes` where the condition is true, else `no`.
TRIBUTARY_INLINE double select(bool condition, double yes, double no) {
  return condition ? yes : no;
}
/// Rounded toward zero, for |v| < 2^31; other numbers give one beyond -2^31 or 2^31.
TRIBUTARY_INLINE double truncated(double v) {
  return v > -2147483648.0 && v < 2147483648.0 ? static_cast<double>(static_cast<std::int32_t>(v))
                                               : -2147483648.0;
}

/// The bit pattern of a double.
TRIBUTARY_INLINE std::uint64_t bitsOf(double v) {
  std::uint64_t bits;
  std::memcpy(&bits, &v, sizeof v);
  return bits;
}
/// The double with a bit pattern.
TRIBUTARY_INLINE double fromBits(std::uint64_t bits) {
  double v;
  std::memcpy(&v, &bits, sizeof v);
  return v;
}

/// The bit pattern of each lane.
TRIBUTARY_INLINE WideBits bitsOf(Wide v) {
  return (WideBits)v;
}
/// The lanes with these bit patterns.
TRIBUTARY_INLINE Wide fromBits(WideBits bits) {
  return (Wide)bits;
}
/// The same value in all lanes.
template <class Number>
TRIBUTARY_INLINE Number all(double s) {
  return Number{} + s;
}
/// In each lane, `yes` where the condition is true, else `no`.
TRIBUTARY_INLINE Wide select(WideInt condition, Wide yes, Wide no) {
  return condition ? yes : no;
}
/// The absolute value of each lane.
TRIBUTARY_INLINE Wide magnitude(Wide v) {
  return (Wide)((WideInt)v & INT64_MAX);
}
/// For integers 0 <= v < 2^52.
TRIBUTARY_INLINE WideInt toInteger(Wide v) {
  return (WideInt)(v + 0x1p52) - (WideInt)all<Wide>(0x1p52);
}
/// The condition that is true in the lanes of a set.
TRIBUTARY_INLINE WideInt toCondition(LaneSet lanes) {
  WideInt bit;
  for (int l = 0; l < Width; ++l) bit[l] = std::int64_t(1) << l;
  return (bit & std::int64_t(lanes)) != 0;
}

#if defined(__AVX512F__) && defined(__AVX512DQ__)
/// The square root of each lane.
TRIBUTARY_INLINE Wide root(Wide v) {
  return (Wide)_mm512_maskz_sqrt_pd(0xff, (__m512d)v);
}
/// Each lane rounded towards 0.
TRIBUTARY_INLINE Wide truncated(Wide v) {
  return (Wide)_mm512_maskz_roundscale_pd(0xff, (__m512d)v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}
/// The largest integer that is not greater, of each lane.
TRIBUTARY_INLINE Wide floored(Wide v) {
  return (Wide)_mm512_maskz_roundscale_pd(0xff, (__m512d)v,
                                          _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
/// The set of lanes in which a condition is true.
TRIBUTARY_INLINE LaneSet toLanes(WideInt condition) {
  return _mm512_movepi64_mask((__m512i)condition);
}
/// Loads Width numbers. Compilers split the conversion if it is not an intrinsic.
TRIBUTARY_INLINE Wide loadWide(const float* p) {
  return (Wide)_mm512_maskz_cvtps_pd(0xff, _mm256_loadu_ps(p));
}
/// Transposes rows to columns.
TRIBUTARY_INLINE void transpose(Wide m[8]) {
  Wide quad[8];  // two columns of four rows each, in 128-bit pieces
  for (int i = 0; i < 2; ++i) {
    const Wide* r = m + 4 * i;
    const Wide even0 = __builtin_shufflevector(r[0], r[1], 0, 8, 2, 10, 4, 12, 6, 14);
    const Wide even1 = __builtin_shufflevector(r[2], r[3], 0, 8, 2, 10, 4, 12, 6, 14);
    const Wide odd0 = __builtin_shufflevector(r[0], r[1], 1, 9, 3, 11, 5, 13, 7, 15);
    const Wide odd1 = __builtin_shufflevector(r[2], r[3], 1, 9, 3, 11, 5, 13, 7, 15);
    quad[i] = __builtin_shufflevector(even0, even1, 0, 1, 4, 5, 8, 9, 12, 13);
    quad[2 + i] = __builtin_shufflevector(odd0, odd1, 0, 1, 4, 5, 8, 9, 12, 13);
    quad[4 + i] = __builtin_shufflevector(even0, even1, 2, 3, 6, 7, 10, 11, 14, 15);
    quad[6 + i] = __builtin_shufflevector(odd0, odd1, 2, 3, 6, 7, 10, 11, 14, 15);
  }
  for (int c = 0; c < 4; ++c) {
    const Wide a = quad[2 * c], b = quad[2 * c + 1];
    m[c] = __builtin_shufflevector(a, b, 0, 1, 4, 5, 8, 9, 12, 13);
    m[c + 4] = __builtin_shufflevector(a, b, 2, 3, 6, 7, 10, 11, 14, 15);
  }
}
#elif defined(__AVX2__)
/// The square root of each lane.
TRIBUTARY_INLINE Wide root(Wide v) {
  return (Wide)_mm256_sqrt_pd((__m256d)v);
}
/// Each lane rounded towards 0.
TRIBUTARY_INLINE Wide truncated(Wide v) {
  return (Wide)_mm256_round_pd((__m256d)v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}
/// The largest integer that is not greater, of each lane.
TRIBUTARY_INLINE Wide floored(Wide v) {
  return (Wide)_mm256_floor_pd((__m256d)v);
}
/// The set of lanes in which a condition is true.
TRIBUTARY_INLINE LaneSet toLanes(WideInt condition) {
  return static_cast<LaneSet>(_mm256_movemask_pd((__m256d)condition));
}
/// Loads Width numbers. Compilers split the conversion if it is not an intrinsic.
TRIBUTARY_INLINE Wide loadWide(const float* p) {
  return (Wide)_mm256_cvtps_pd(_mm_loadu_ps(p));
}
/// Transposes rows to columns.
TRIBUTARY_INLINE void transpose(Wide m[4]) {
  const Wide even0 = __builtin_shufflevector(m[0], m[1], 0, 4, 2, 6);
  const Wide odd0 = __builtin_shufflevector(m[0], m[1], 1, 5, 3, 7);
  const Wide even1 = __builtin_shufflevector(m[2], m[3], 0, 4, 2, 6);
  const Wide odd1 = __builtin_shufflevector(m[2], m[3], 1, 5, 3, 7);
  m[0] = __builtin_shufflevector(even0, even1, 0, 1, 4, 5);
  m[1] = __builtin_shufflevector(odd0, odd1, 0, 1, 4, 5);
  m[2] = __builtin_shufflevector(even0, even1, 2, 3, 6, 7);
  m[3] = __builtin_shufflevector(odd0, odd1, 2, 3, 6, 7);
}
#else
/// The largest integer that is not greater, of each lane.
TRIBUTARY_INLINE Wide floored(Wide v) {
  for (int l = 0; l < Width; ++l) v[l] = floored(v[l]);
  return v;
}
/// Width numbers.
TRIBUTARY_INLINE Wide loadWide(const float* p) {
  return Wide{p[0], p[1]};
}
/// Transposes rows to columns.
TRIBUTARY_INLINE void transpose(Wide m[2]) {
  const Wide first = __builtin_shufflevector(m[0], m[1], 0, 2);
  m[1] = __builtin_shufflevector(m[0], m[1], 1, 3);
  m[0] = first;
}
#ifdef __x86_64__
/// The square root of each lane.
TRIBUTARY_INLINE Wide root(Wide v) {
  return (Wide)_mm_sqrt_pd((__m128d)v);
}
/// Each lane rounded towards 0.
TRIBUTARY_INLINE Wide truncated(Wide v) {
  return (Wide)_mm_cvtepi32_pd(_mm_cvttpd_epi32((__m128d)v));
}
/// The set of lanes in which a condition is true.
TRIBUTARY_INLINE LaneSet toLanes(WideInt condition) {
  return static_cast<LaneSet>(_mm_movemask_pd((__m128d)condition));
}
#else
/// The square root of each lane.
TRIBUTARY_INLINE Wide root(Wide v) {
  for (int l = 0; l < Width; ++l) v[l] = root(v[l]);
  return v;
}
/// Each lane rounded towards 0.
TRIBUTARY_INLINE Wide truncated(Wide v) {
  for (int l = 0; l < Width; ++l) v[l] = truncated(v[l]);
  return v;
}
/// The set of lanes in which a condition is true.
TRIBUTARY_INLINE LaneSet toLanes(WideInt condition) {
  LaneSet lanes = 0;
  for (int l = 0; l < Width; ++l) lanes |= LaneSet(condition[l] & 1) << l;
  return lanes;
}
#endif
#endif

/// v ^ (-1/5) for normal v > 0, except for the last bits. Unlike `pow`, it gives the same bits on
/// all systems.
template <class Number>
TRIBUTARY_INLINE Number inverseFifthRoot(Number v) {
  // The bits of a number, read as an integer, approximate its logarithm; then Newton's method.
  using Bits = decltype(bitsOf(v));
  constexpr std::uint64_t Whole = 0x4330000000000000;  // of 2^52, whose last bits count ones
  const Number logarithm = fromBits((Bits)(bitsOf(v) >> 12 | Whole)) - 0x1p52;
  Number y = fromBits((Bits)(bitsOf(0x1p52 + 0x1.32e2ap50 - 0.2 * logarithm) << 12));
  for (int i = 0; i < 4; ++i) {
    const Number y2 = y * y;
    y = y * (1.2 - 0.2 * (v * (y2 * y2 * y)));
  }
  return y;
}

/// Reads one value per lane. No alignment is required.
TRIBUTARY_INLINE Wide loadWide(const double* p) {
  Wide v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

/// Width of the four numbers, from part * Width on; lanes beyond the fourth number are undefined.
TRIBUTARY_INLINE Wide loadRun(const double run[4], int part) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  (void)part;
  return (Wide)_mm512_castpd256_pd512(_mm256_loadu_pd(run));
#else
  return loadWide(run + part * Width);
#endif
}

/// Transposes runs of numbers, one run for each lane: out[i] has number i of each lane, for i < N.
/// `load(lane, i)` returns Width numbers of a lane from number i * Width on; numbers from N on are
/// ignored.
template <int N, class Load>
TRIBUTARY_INLINE void gather(Load&& load, Wide out[N]) {
  for (int i = 0; i < N; i += Width) {
    Wide m[Width];
    for (int l = 0; l < Width; ++l) m[l] = load(l, i / Width);
    transpose(m);
    for (int c = 0; c < Width; ++c)
      if (i + c < N) out[i + c] = m[c];
  }
}

/// Calls f for each lane in the set.
template <class F>
TRIBUTARY_INLINE void forEach(LaneSet lanes, F&& f) {
  for (; lanes; lanes &= lanes - 1) f(__builtin_ctz(lanes));
}

}  // namespace TRIBUTARY_KERNEL_NAMESPACE
}  // namespace tributary
