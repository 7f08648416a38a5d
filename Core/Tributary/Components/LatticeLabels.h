// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Tributary/Base/ParallelFor.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Components/Connection.h"
#include "Tributary/Components/LatticeMask.h"

namespace tributary {

/// Elements [begin, end) of a row that follow each other in one set.
struct Run {
  Run() {}  // not zeroed: the threads that fill the runs are to touch their memory first
  std::int32_t begin, end;
  std::uint32_t set;
};

/// The connected sets of a lattice's elements. Sets are numbered by their first elements, so the
/// numbers do not depend on threads.
struct LatticeLabels {
  std::vector<std::int64_t> rowBegin;  ///< rows + 1 positions in runs.
  std::vector<Run> runs;               ///< Row by row, ascending.
  std::uint32_t sets = 0;
};

/// Labels the elements of a mask. Memory: 16 bytes per run and 8 per row, besides the mask.
/// @param mask    bits past the end of a row do not count
/// @param values  null, or one per element: only elements of equal value are connected
/// Throws Error if the mask does not have the lattice's size, or has 2^32 - 1 runs or more.
LatticeLabels labelLattice(const LatticeSize& size, Span<const std::uint64_t> mask, Through through,
                           const std::int64_t* values, const ParallelFor& parallelFor);

/// Writes a value for every element: its set's, or the background outside the mask.
/// @param T    any type of 1, 2, 4 or 8 bytes that is copied bit by bit
/// @param out  one per element
template <class T>
void writeLabels(const LatticeLabels& labels, const LatticeSize& size, Span<const T> valueOfSet,
                 T background, T* out, const ParallelFor& parallelFor);

}  // namespace tributary
