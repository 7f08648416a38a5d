// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>

#include "Tributary/Advection/detail/MeshTopology.h"
#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/ParallelFor.h"
#include "Tributary/Collective/Assignment.h"

namespace tributary::detail {

// Copies of the pieces of meshes, for other ranks. A copy consists of the arrays of the piece and
// of what ranks have found out together: which points other pieces have, and the neighbors beyond
// faces with such points. All else is a function of the arrays, and is found again where it is
// needed.

/// Local. An estimate of the bytes that writeMesh() writes; never too low.
[[nodiscard]] std::size_t copiedBytes(const MeshTopology& topology);
/// Local. Appends a piece without foreign cells.
void writeMesh(const MeshTopology& topology, Writer& writer);
/// Local. Makes a piece, with arrays of its own. Throws Error if the message is malformed.
/// @param piece  MeshPiece::piece of the copy
/// @param blocks  the number of blocks of all ranks
[[nodiscard]] std::shared_ptr<const MeshTopology> readMesh(int piece, BlockId blocks,
                                                           const ParallelFor& parallelFor,
                                                           Reader& reader);

}  // namespace tributary::detail
