// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "Common/Leaves.h"

#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Collective. For each leaf of this rank, which of its cells a finer level of its AMR hierarchy
/// covers: 1 per cell whose center lies in a data set of a higher level on any rank. No entries for
/// a leaf without such a cell. The marks that VTK's readers put into the data cover the data sets
/// of one rank only.
std::vector<std::vector<std::uint8_t>> findRefinedCells(Transport& transport,
                                                        const std::vector<Leaf>& leaves);

}  // namespace tributary
