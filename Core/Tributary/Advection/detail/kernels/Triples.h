// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Tributary/Advection/Vector.h"

// Arrays of x, y, z, one point after the other, read and written for the lanes of a vector.

namespace tributary::detail {
inline namespace TRIBUTARY_KERNEL_NAMESPACE {  // see Vector.h

TRIBUTARY_INLINE void storeWide(double* to, Wide v) {
  std::memcpy(to, &v, sizeof v);
}

/// Three numbers, without reading a fourth: those of `part` in Width lanes, for gather<3>().
TRIBUTARY_INLINE Wide loadTriple(const double* v, int part) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  (void)part;
  return (Wide)_mm512_castpd256_pd512(_mm256_maskz_loadu_pd(7, v));
#elif defined(__AVX2__)
  (void)part;
  return (Wide)_mm256_maskload_pd(v, _mm256_setr_epi64x(-1, -1, -1, 0));
#else
  return part == 0 ? Wide{v[0], v[1]} : Wide{v[2], 0};
#endif
}
TRIBUTARY_INLINE Wide loadTriple(const float* v, int part) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  (void)part;
  return (Wide)_mm512_castpd256_pd512(_mm256_cvtps_pd(_mm_maskz_loadu_ps(7, v)));
#elif defined(__AVX2__)
  (void)part;
  return (Wide)_mm256_cvtps_pd(_mm_maskload_ps(v, _mm_setr_epi32(-1, -1, -1, 0)));
#else
  return part == 0 ? Wide{v[0], v[1]} : Wide{v[2], 0};
#endif
}

/// Writes x, y, z of each lane as one triple after the other.
TRIBUTARY_INLINE void storeTriples(double* to, const Wide v[3]) {
  double rows[3][Width];
  for (int a = 0; a < 3; ++a) storeWide(rows[a], v[a]);
  for (int l = 0; l < Width; ++l)
    for (int a = 0; a < 3; ++a) to[3 * l + a] = rows[a][l];
}

}  // namespace TRIBUTARY_KERNEL_NAMESPACE
}  // namespace tributary::detail
