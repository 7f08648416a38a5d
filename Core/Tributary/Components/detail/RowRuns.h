// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tributary::detail {

/// The elements of a word of a mask at which runs begin, if all elements that follow one another
/// are of one run. Inlined into each kernel, so that the linker cannot use code for a newer
/// processor.
/// @param left  1 if the last element of the word before is in the mask, otherwise 0
__attribute__((always_inline)) inline std::uint64_t runBegins(std::uint64_t in,
                                                              std::uint64_t left) {
  return in & ~(in << 1 | left);
}

/// Calls `visit(begin, end)` for the runs of a row of a mask, or for their parts in the elements
/// [from, to), in ascending order. The kernels of all instruction sets include it: it calls no
/// function but `visit` that is not inlined.
/// @param starts  first elements of runs; null if all elements that follow one another in the mask
///                are of one run
template <class Visit>
void visitRowRuns(const std::uint64_t* mask, const std::uint64_t* starts, std::int64_t from,
                  std::int64_t to, Visit&& visit) {
  constexpr std::uint64_t All = ~std::uint64_t(0);
  std::uint64_t left = 0;     // 1 if a run goes on at the element at hand
  std::int64_t begin = from;  // of that run
  for (std::int64_t w = from / 64, at = 64 * w; at < to; ++w, at += 64) {
    std::uint64_t in = mask[w];
    if (at < from) in &= All << (from - at);
    if (to - at < 64) in &= ~(All << (to - at));
    const std::uint64_t shifted = in << 1 | left;
    std::uint64_t begins = runBegins(in, left);
    if (starts) begins |= in & starts[w];
    std::uint64_t ends = shifted & (~in | begins);
    // The run that goes on and those that begin here end in the same order.
    const auto next = [&] {
      begin = at + __builtin_ctzll(begins);
      begins &= begins - 1;
    };
    if (left == 0 && begins != 0) next();
    for (; ends != 0; ends &= ends - 1) {
      visit(begin, at + __builtin_ctzll(ends));
      if (begins != 0) next();
    }
    left = in >> 63;
  }
  if (left != 0) visit(begin, to);
}

}  // namespace tributary::detail
