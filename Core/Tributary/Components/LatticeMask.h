// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "Tributary/Base/ParallelFor.h"
#include "Tributary/Base/Span.h"

namespace tributary {

/// Elements along x, y, z; 1 along a flat axis. Rows lie along x and follow each other along y,
/// then z. Rows of one element are slow: leave a flat x out, {1, a, b} is {a, b, 1}.
using LatticeSize = std::array<std::int64_t, 3>;

// Masks: one bit per element, bit i % 64 of word i / 64 of a row, each row in words of its own.

/// Words of a row of the mask.
inline std::int64_t maskWords(std::int64_t rowLength) {
  return (rowLength + 63) / 64;
}
/// Words of a mask. Throws Error if a size is negative, rows are longer than 2^31 - 1, or the
/// elements cannot be counted in 64 bits.
std::int64_t maskWords(const LatticeSize& size);

/// Mask of the elements whose value lies in [lo, hi], compared exactly in whatever type; NaN lies
/// in no range.
/// @param T     any arithmetic type
/// @param mask  rows * maskWords(rowLength) words, all are set; bits past a row's end are 0
template <class T>
void rangeMask(const T* values, std::int64_t rowLength, std::int64_t rows, double lo, double hi,
               std::uint64_t* mask, const ParallelFor& parallelFor);

/// Cells of a lattice of points: one less along each axis, one along flat ones.
LatticeSize cellsOf(const LatticeSize& pointSize);

/// Mask of the cells all of whose corner points are in the mask, or any of them.
std::vector<std::uint64_t> cellMask(Span<const std::uint64_t> pointMask,
                                    const LatticeSize& pointSize, bool all,
                                    const ParallelFor& parallelFor);

/// Takes the elements out of the mask whose flag has any of the bits.
/// @param flags  one per element
void clearFlagged(std::uint64_t* mask, const LatticeSize& size, const std::uint8_t* flags,
                  std::uint8_t bits, const ParallelFor& parallelFor);

}  // namespace tributary
