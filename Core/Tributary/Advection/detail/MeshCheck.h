// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Tributary/Advection/MeshField.h"
#include "Tributary/Base/ParallelFor.h"

namespace tributary::detail {

/// Local. Throws Error if the arrays of a piece do not fit together, or if a cell refers to a point
/// that the piece does not have: see makeMeshBlocks().
void checkPiece(const MeshPiece& piece, int blocks, int dimension, const ParallelFor& parallelFor);

}  // namespace tributary::detail
