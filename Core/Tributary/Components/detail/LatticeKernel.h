// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "Tributary/Components/Connection.h"

namespace tributary::detail {

/// What the kernels know of a lattice: rows follow each other along y, then z.
struct LatticeRows {
  std::int64_t length = 0;  ///< Elements of a row.
  std::int64_t words = 0;   ///< Words of a row of the mask.
  std::int64_t rowsPerSlice = 1;
  Through through = Through::Faces;
  const std::uint64_t* mask = nullptr;
  /// One per element, or null. Then `starts` marks the first elements of runs, like the mask.
  const std::int64_t* values = nullptr;
  std::uint64_t* starts = nullptr;
  std::int64_t* rowBegin = nullptr;
  std::uint32_t* setOfRun = nullptr;
};

/// Sets of ranges of rows that were labeled apart: element `base[row / rowsPerChunk]` plus the set
/// of a run of a union-find.
struct LatticeSeams {
  const std::int64_t* base = nullptr;
  std::int64_t rowsPerChunk = 1;
  std::uint32_t* parent = nullptr;
};

/// The loops over rows, [first, end) of them, compiled per instruction set: they count bits.
struct LatticeKernel {
  /// Writes the number of runs of each row to rowBegin[row + 1]; sets `starts`.
  void (*countRuns)(const LatticeRows&, std::int64_t first, std::int64_t end);
  /// Labels the rows as if there were no others: writes the sets of their runs.
  /// @return the number of sets
  std::uint32_t (*labelRows)(const LatticeRows&, std::int64_t first, std::int64_t end);
  /// Unites the sets of rows [first, end) with those of their neighbors before `first`. By several
  /// threads at once.
  void (*linkSeam)(const LatticeRows&, const LatticeSeams&, std::int64_t first, std::int64_t end);
  /// writeLabels() for values of 2^logBytes bytes.
  void (*writeRows)(const LatticeRows&, int logBytes, const void* valueOfSet,
                    const void* background, void* out, std::int64_t first, std::int64_t end);
};

extern const LatticeKernel latticeKernelBaseline, latticeKernelAvx2;

}  // namespace tributary::detail
