// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "Tributary/Advection/MeshField.h"
#include "Tributary/Base/ParallelFor.h"

namespace tributary::detail {

/// Local. Throws Error if the arrays of a piece do not fit together, or if a cell refers to a point
/// that the piece does not have: see makeMeshBlocks().
/// @param isChecked  whether the same cells and points have passed before
void checkPiece(const MeshPiece& piece, bool isChecked, int blocks, int dimension,
                const ParallelFor& parallelFor);

/// Local. Throws Error if the velocity at the end of an interval (none: null data) differs in its
/// type or its number of tuples from that at the beginning.
/// @param piece  its name, for the message
void checkLaterVelocity(const std::string& piece, const ArrayView& velocity,
                        const ArrayView& laterVelocity);

}  // namespace tributary::detail
