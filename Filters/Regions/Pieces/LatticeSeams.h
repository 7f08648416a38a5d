// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "Tributary/Components/Connection.h"
#include "Tributary/Components/LatticeLabels.h"

namespace tributary {

/// A box of elements of a lattice with their sets: the cells of a data set, or the elements of the
/// gap beyond its last cells. Refers to the labels.
struct LatticePart {
  std::array<std::int64_t, 3> begin{}, end{};  ///< In the lattice of the data set's cells.
  LatticeLabels* labels = nullptr;
  std::array<std::size_t, 3> order{0, 1,
                                   2};  ///< The axes of the lattice along those of the labels.
};

/// Unites the sets of parts that touch, directly or across the sides of a lattice that continues
/// there, and numbers the sets of all parts as one. Local. The numbers depend on the order of the
/// parts.
/// @param parts   disjoint; each labeled by itself
/// @param around  by axis the number of elements after which the lattice repeats; 0: it does not
/// @param flat    axes along which elements have no neighbors
/// @param values  null, or of the cells of the first part: only cells of equal values are connected
/// @return the number of sets
std::uint32_t unitePartsOf(const std::vector<LatticePart>& parts,
                           const std::array<std::int64_t, 3>& around,
                           const std::array<bool, 3>& flat, Through through,
                           const std::int64_t* values);

}  // namespace tributary
