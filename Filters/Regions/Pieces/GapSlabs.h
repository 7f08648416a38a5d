// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "Regions/Pieces/DomainRules.h"

#include "Tributary/Base/Index.h"
#include "Tributary/Components/LatticeLabels.h"
#include "Tributary/Components/LatticeMask.h"

namespace tributary {

/// The elements between the last columns of a piece and the images of the first columns, along one
/// axis or more: one layer. They connect cells, but are no cells of the output. Indices are those
/// of the extent; beyond the last column they go on.
struct GapSlab {
  std::array<std::int64_t, 3> first{};  ///< Index of the first points.
  std::array<std::int64_t, 3> last{};   ///< Index of the last points; along flat axes the same.
  std::array<bool, 3> isGap{};          ///< Axes along which the elements close a gap.
  std::array<std::size_t, 3> order{};   ///< Axes of the mask: rows are not along a gap.
  std::size_t firstWord = 0;            ///< Of its mask of points in the one of all slabs.
  std::size_t firstElementWord = 0;     ///< The same of its mask of elements.

  LatticeSize points() const;  ///< In the order of the mask.
  LatticeSize elements() const { return cellsOf(points()); }
  std::int64_t words() const { return maskWords(points()); }
  std::int64_t elementWords() const { return maskWords(elements()); }
  /// The bit of a point in the mask of all slabs.
  std::int64_t bitOf(const std::array<std::int64_t, 3>& at) const {
    return bitOf(at, points(), firstWord);
  }
  /// The bit of the element that begins at a point.
  std::int64_t elementBitOf(const std::array<std::int64_t, 3>& at) const {
    return bitOf(at, elements(), firstElementWord);
  }

 private:
  std::int64_t bitOf(const std::array<std::int64_t, 3>& at, const LatticeSize& size,
                     std::size_t word) const {
    const auto along = [&](std::size_t n) { return at[order[n]] - first[order[n]]; };
    const std::int64_t row = along(2) * size[1] + along(1);
    return (static_cast<std::int64_t>(word) + row * maskWords(size[0])) * 64 + along(0);
  }
};

/// Returns the slabs of a piece. Local.
/// @param first, last  indices of its points
[[nodiscard]] std::vector<GapSlab> gapSlabsOf(const DomainRules& rules,
                                              const std::array<std::int64_t, 3>& first,
                                              const std::array<std::int64_t, 3>& last);

}  // namespace tributary
