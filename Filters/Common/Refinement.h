// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "Common/Leaves.h"

#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Collective. Finds the cells that a finer level of their AMR hierarchy covers: those whose center
/// is in a data set of a higher level on any rank. VTK's readers mark only cells that are covered
/// by data sets of the same rank. Throws Error on all ranks.
/// @param leaves  of this rank
/// @return for each leaf, 1 for each covered cell and 0 for others; empty if no cell is covered
[[nodiscard]] std::vector<std::vector<std::uint8_t>> findRefinedCells(
    Transport& transport, const std::vector<Leaf>& leaves);

}  // namespace tributary
