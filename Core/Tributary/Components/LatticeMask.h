// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "Tributary/Base/ParallelFor.h"
#include "Tributary/Base/Span.h"

namespace tributary {

/// Numbers of elements along x, y, z; 1 along a flat axis. Rows extend along x and are ordered by
/// y, then z. Rows of one element are slow: use {a, b, 1} instead of {1, a, b}.
using LatticeSize = std::array<std::int64_t, 3>;

// Masks have one bit per element: bit i % 64 of word i / 64 of its row. Rows do not share words.

/// Words of a row of the mask.
[[nodiscard]] inline std::int64_t maskWords(std::int64_t rowLength) {
  return (rowLength + 63) / 64;
}
/// Words of a mask. Throws Error if a size is negative, if rows are longer than 2^31 - 1, or if the
/// number of elements does not fit into 64 bits.
[[nodiscard]] std::int64_t maskWords(const LatticeSize& size);

/// Mask of the elements whose value lies in [lo, hi]. Values are compared without rounding; NaN
/// lies in no range.
/// @tparam T    any arithmetic type
/// @param mask  Out: rows * maskWords(rowLength) words; bits past the end of a row are 0
template <class T>
void rangeMask(const T* values, std::int64_t rowLength, std::int64_t rows, double lo, double hi,
               std::uint64_t* mask, const ParallelFor& parallelFor);

/// The size of the lattice of cells between the points of a lattice: one less along each axis, but
/// 1 along flat axes.
[[nodiscard]] LatticeSize cellsOf(const LatticeSize& pointSize);

/// Mask of the cells all of whose corner points are in the mask, or any of them.
[[nodiscard]] std::vector<std::uint64_t> cellMask(Span<const std::uint64_t> pointMask,
                                                  const LatticeSize& pointSize, bool all,
                                                  const ParallelFor& parallelFor);

/// Removes the elements from the mask whose flag has any of the bits.
/// @param flags  one per element
void clearFlagged(std::uint64_t* mask, const LatticeSize& size, const std::uint8_t* flags,
                  std::uint8_t bits, const ParallelFor& parallelFor);

}  // namespace tributary
