// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Tributary/Base/ParallelFor.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Components/Connection.h"
#include "Tributary/Components/LatticeMask.h"

namespace tributary {

/// Consecutive elements [begin, end) of a row that belong to one set.
struct Run {
  Run() {}  // not zeroed: the threads that fill the runs are to touch their memory first
  std::int32_t begin, end;
  std::uint32_t set;
};

/// The connected sets of the elements of a lattice. Sets are numbered in the order of their first
/// elements, so the numbers do not depend on threads.
struct LatticeLabels {
  std::vector<std::int64_t> rowBegin;  ///< rows + 1 positions in runs.
  std::vector<Run> runs;               ///< By row, in ascending order.
  std::uint32_t sets = 0;
};

/// Labels the elements of a mask. Local. Memory: 16 bytes per run and 8 bytes per row, besides the
/// mask. Throws Error if the size of the mask differs from that of the lattice, or if the mask has
/// 2^32 - 1 runs or more.
/// @param mask    bits past the end of a row are ignored
/// @param values  null, or one per element: only elements of equal value are connected
[[nodiscard]] LatticeLabels labelLattice(const LatticeSize& size, Span<const std::uint64_t> mask,
                                         Through through, const std::int64_t* values,
                                         const ParallelFor& parallelFor);

/// Writes a value for every element: that of its set, or the background outside the mask. Local.
/// @tparam T    any type of 1, 2, 4 or 8 bytes that is copied bit by bit
/// @param out  one per element
template <class T>
void writeLabels(const LatticeLabels& labels, const LatticeSize& size, Span<const T> valueOfSet,
                 T background, T* out, const ParallelFor& parallelFor);

}  // namespace tributary
